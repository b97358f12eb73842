import { useQuery } from '@tanstack/react-query'
import { api, bodyOf, type components } from '../api/client.ts'
import { orNone } from '../api/failure.ts'
import { Answer, Section } from '../parts/page.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Long } from '../parts/text.tsx'

type DiffRows = components['schemas']['ImportDiffRows']
type Mapping = components['schemas']['ImportMapping']
type MappedColumn = Mapping['columns'][number]

/** What the start would do, as of the check. */
export function Preview({ id }: { readonly id: string }) {
  const diff = useQuery({
    queryKey: ['imports', id, 'diff'],
    queryFn: () => orNone(bodyOf(api.GET('/v1/imports/{id}/diff', { params: { path: { id } } }))),
  })
  return (
    <Section title="What the import would do" of={diff}>
      {(found) =>
        found && (
          <div className="facts">
            <Group title="New" of={found.create} />
            <Group title="Changed" of={found.update} />
            <Group title="As they are already" of={found.unchanged} />
          </div>
        )
      }
    </Section>
  )
}

const Group = ({ title, of: { count, rows } }: { readonly title: string; readonly of: DiffRows }) => (
  <div>
    <h3>
      {title}: {count.toLocaleString()}
    </h3>
    {rows.length > 0 && (
      <details>
        <summary>{rows.length < count ? `The first ${rows.length}` : 'Which'}</summary>
        <ul>
          {rows.map(({ row, key }) => (
            <li key={row}>
              <Long text={key} most={60} /> <span className="quiet">row {row}</span>
            </li>
          ))}
        </ul>
      </details>
    )}
  </div>
)

const SOURCES: Readonly<Record<string, string>> = {
  shopify: 'an export of Shopify',
  woocommerce: 'an export of WooCommerce',
}
const EXAMPLES = 3

/** What each column of the file became. It is open for a file of another platform. */
export function MappingOf({ id }: { readonly id: string }) {
  const mapping = useQuery({
    queryKey: ['imports', id, 'mapping'],
    queryFn: () => orNone(bodyOf(api.GET('/v1/imports/{id}/mapping', { params: { path: { id } } }))),
  })
  return <Answer of={mapping}>{(found) => found && found.columns.length > 0 && <ReadAs mapping={found} />}</Answer>
}

function ReadAs({ mapping }: { readonly mapping: Mapping }) {
  const { source, currency, columns } = mapping
  return (
    <Section title="How the file was read">
      {source && (
        <p>
          It was read as {SOURCES[source] ?? source}
          {currency && `, with prices in ${currency}`}.
        </p>
      )}
      <details open={source !== null}>
        <summary>Columns and first rows</summary>
        <Table
          label="Columns of the file"
          rows={columns}
          keyOf={({ column, target }) => `${column} ${target}`}
          columns={mappingColumns(mapping)}
        />
      </details>
    </Section>
  )
}

const mappingColumns = ({ rows }: Mapping): Column<MappedColumn>[] => [
  { head: 'In the file', cell: ({ column }) => <Long text={column} most={60} /> },
  { head: 'Becomes', cell: ({ target }) => (target ? <code>{target}</code> : <span className="quiet">not read</span>) },
  ...rows.slice(0, EXAMPLES).map(({ row, values }) => ({
    head: `Row ${row}`,
    cell: ({ target }: MappedColumn) => <Long text={target ? shown(values[target]) : ''} most={60} />,
  })),
]

const shown = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
