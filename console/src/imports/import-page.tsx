import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { api, bodyOf, type components } from '../api/client.ts'
import { counted } from '../parts/action.tsx'
import { Answer, Facts, Page, Section } from '../parts/page.tsx'
import { Badge, Id, Time } from '../parts/text.tsx'
import { Images } from './images.tsx'
import { NextSteps } from './next-steps.tsx'
import { MappingOf, Preview } from './preview.tsx'
import { AboutFile, Report, type Summary } from './report.tsx'
import { isApplied, isMoving, isRead, isWaiting } from './states.ts'
import { templateName } from './templates.ts'
import { Undo } from './undo.tsx'

type Import = components['schemas']['Import']

const LIVE_MS = 1_000

/** One import, from the upload to its undo: what was found, what it would do, and what to do next. */
export function ImportPage() {
  const { id } = useParams({ from: '/imports/$id' })
  const found = useQuery({
    queryKey: ['imports', id],
    queryFn: () => bodyOf(api.GET('/v1/imports/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data && isMoving(state.data) ? LIVE_MS : false),
  })
  return (
    <Page title={found.data?.file ?? 'Import'} above={<Link to="/imports">Imports</Link>} of={found}>
      {(one) => (
        <>
          {isRead(one) ? <Read of={one} /> : <Checking of={one} />}
          <Section title="Import">
            <Facts
              of={{
                State: <Badge state={one.status} />,
                Contents: templateName(one.template),
                Uploaded: <Time at={one.created_at} />,
                'Last change': <Time at={one.updated_at} />,
                Import: <Id id={one.id} />,
              }}
            />
          </Section>
        </>
      )}
    </Page>
  )
}

const Checking = ({ of: one }: { readonly of: Import }) => (
  <Section title="The file is being checked">
    <progress aria-label="Check of the file" />
    <NextSteps of={one} />
  </Section>
)

/** An import whose file was read. */
function Read({ of: one }: { readonly of: Import }) {
  const { id, status, processed_rows } = one
  const report = useQuery({
    queryKey: ['imports', id, 'report', status, status === 'IMPORTING' ? 0 : processed_rows],
    queryFn: () => bodyOf(api.GET('/v1/imports/{id}/errors', { params: { path: { id } } })),
  })
  return (
    <Answer of={report}>
      {({ summary }) => (
        <>
          <Section title={headline(one, summary)}>
            {status === 'IMPORTING' && <Applied of={one} valid={summary.valid_rows} />}
            {isApplied(one) && (
              <Facts
                of={{
                  Created: summary.created.toLocaleString(),
                  Changed: summary.updated.toLocaleString(),
                  'Not applied': (summary.failed + summary.invalid_rows).toLocaleString(),
                }}
              />
            )}
            <NextSteps of={one} summary={summary} />
          </Section>
          <AboutFile summary={summary} />
          <Report id={id} summary={summary} />
          {isWaiting(one) && summary.valid_rows > 0 && <Preview id={id} />}
          {isApplied(one) && <Undo of={one} />}
          {one.template === 'products' && isApplied(one) && <Images id={id} />}
          <MappingOf id={id} />
        </>
      )}
    </Answer>
  )
}

const Applied = ({ of: { processed_rows }, valid }: { readonly of: Import; readonly valid: number }) => (
  <>
    <progress aria-label="Rows applied" max={valid} value={processed_rows} />
    <p className="quiet">
      {processed_rows.toLocaleString()} of {counted(valid, 'row')}
    </p>
  </>
)

/** How it stands, in a sentence. */
function headline({ status, processed_rows }: Import, { total_rows, valid_rows, invalid_rows }: Summary): string {
  switch (status) {
    case 'VALIDATED':
      return `${counted(total_rows, 'row')} can be imported. Nothing has changed yet.`
    case 'INVALID':
      return valid_rows === 0
        ? 'No row of this file can be imported. Nothing has changed.'
        : `${invalid_rows.toLocaleString()} of ${counted(total_rows, 'row')} cannot be imported. Nothing has changed yet.`
    case 'IMPORTING':
      return 'The rows are being imported'
    case 'COMPLETED':
      return 'All rows are imported'
    case 'COMPLETED_WITH_ERRORS':
      return 'The import is done, without the bad rows'
    case 'FAILED':
      return processed_rows === 0 ? 'The import failed. Nothing has changed.' : 'The import failed on its way'
    default:
      return processed_rows === 0
        ? 'The import was cancelled. Nothing has changed.'
        : 'The import was stopped on its way'
  }
}
