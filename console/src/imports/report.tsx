import { Link } from '@tanstack/react-router'
import { type components, download } from '../api/client.ts'
import { counted, useAction } from '../parts/action.tsx'
import { Section } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Long } from '../parts/text.tsx'
import { FILE_ROW, grouped, type Mistake, rangesOf } from './mistakes.ts'

export type Summary = components['schemas']['ImportSummary']

const RANGES_SHOWN = 5

const COLUMNS: readonly Column<Mistake>[] = [
  { head: 'Column', cell: ({ column }) => (column ? <code>{column}</code> : 'the row') },
  { head: 'What is wrong', cell: ({ message }) => <Long text={message} /> },
  { head: 'For example', cell: ({ value }) => (value === null ? '' : <Long text={value} most={60} />) },
  { head: 'In rows', cell: ({ rows }) => <Rows rows={rows} /> },
]

/** The rows of the file that have a mistake: the first ones, and all when asked for. */
function Rows({ rows }: { readonly rows: readonly number[] }) {
  const ranges = rangesOf(rows).map(([first, last]) =>
    first === last ? first.toLocaleString() : `${first.toLocaleString()}–${last.toLocaleString()}`,
  )
  const first = ranges.slice(0, RANGES_SHOWN).join(', ')
  if (ranges.length <= RANGES_SHOWN) return first
  return (
    <details>
      <summary>
        {counted(rows.length, 'row')}: {first}, …
      </summary>
      {ranges.join(', ')}
    </details>
  )
}

/** What is wrong with a file: once each mistake, with its rows. */
export function Report({ id, summary }: { readonly id: string; readonly summary: Summary }) {
  const saved = useAction((file: string) => download(`/v1/imports/${id}/${file}`, `${id}-${file}`), {
    done: 'The file is saved.',
  })
  const ofRows = summary.errors.filter(({ row }) => row !== FILE_ROW)
  const mistakes = grouped(ofRows)
  if (mistakes.length === 0) return null
  return (
    <Section
      title="Mistakes"
      actions={
        <button type="button" disabled={saved.isPending} onClick={() => saved.mutate('errors.csv')}>
          Download all mistakes
        </button>
      }
    >
      <Table label="Mistakes" rows={mistakes} keyOf={({ key }) => key} columns={COLUMNS} />
      {summary.errors_truncated && (
        <p className="quiet">
          Only the first {ofRows.length.toLocaleString()} are counted here. The download has more of them.
        </p>
      )}
    </Section>
  )
}

/** What is to be said of the file as a whole. */
export function AboutFile({ summary }: { readonly summary: Summary }) {
  const said = summary.errors.filter(({ row }) => row === FILE_ROW)
  if (said.length === 0) return null
  return (
    <div className="notice">
      <h2>About the file</h2>
      {said.map(({ column, message, value, code }) => (
        <p key={`${column} ${message} ${value}`}>
          {column && (
            <>
              <code>{column}</code>{' '}
            </>
          )}
          <Long text={message} />{' '}
          {code === 'duplicate' && value ? (
            <Link to="/imports/$id" params={{ id: value }}>
              See that import
            </Link>
          ) : (
            value && <Long text={value} most={60} />
          )}
        </p>
      ))}
    </div>
  )
}
