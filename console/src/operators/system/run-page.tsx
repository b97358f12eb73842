import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { admin, bodyOf } from '../../api/client.ts'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { Badge, Json, Long, Time } from '../../parts/text.tsx'
import { type Check, isUnderWay } from './checks.tsx'
import { Runbook } from './runbook.tsx'

const LIVE_MS = 2_000

/** One run of a check, with what it has found. */
export function RunPage() {
  const { check, run: id } = useParams({ from: '/operators/system/checks/$check/$run' })
  const run = useQuery({
    queryKey: ['operators', 'checks', check, id],
    queryFn: () => {
      // The API refuses others.
      const path = { check: check as Check, id }
      return bodyOf(admin.GET('/admin/v1/checks/{check}/runs/{id}', { params: { path } }))
    },
    refetchInterval: ({ state }) => (isUnderWay(state.data?.state) ? LIVE_MS : false),
  })
  return (
    <Page title={`Run of ${check}`} above={<Link to="/operators/system">System</Link>} of={run}>
      {({ state, checked, found, error, created_at, ended_at, findings }) => (
        <>
          <Section title="Run">
            <Facts
              of={{
                State: <Badge state={state} />,
                Error: error && <Long text={error} />,
                Began: <Time at={created_at} />,
                Ended: ended_at && <Time at={ended_at} />,
                Compared: Object.entries(checked)
                  .map(([what, count]) => `${count.toLocaleString()} ${what.replaceAll('_', ' ')}`)
                  .join(', '),
                Found: found.toLocaleString(),
              }}
            />
          </Section>
          {findings.length > 0 && (
            <Section title={`Findings${found > findings.length ? ` (the first ${findings.length})` : ''}`}>
              <Json value={findings} />
              <Runbook section="Check everything" />
            </Section>
          )}
        </>
      )}
    </Page>
  )
}
