import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { admin, bodyOf } from '../../api/client.ts'
import { Act, useAction } from '../../parts/action.tsx'
import { Section } from '../../parts/page.tsx'
import { Table } from '../../parts/table.tsx'
import { Badge, Time } from '../../parts/text.tsx'
import { Runbook, Unanswered } from './runbook.tsx'

const CHECKS = [
  ['check-stock', 'the stock of all variants'],
  ['check-orders', 'orders, their payments and reserved stock'],
  ['check-members', 'members of collections, and their rules'],
  ['check-apps', 'the names of apps'],
  ['reconcile', 'a delivery for each event of the last day'],
] as const

export type Check = (typeof CHECKS)[number][0]

const LIVE_MS = 3_000
export const isUnderWay = (state: string | undefined) => state === 'PENDING' || state === 'RUNNING'

/** Compares what is stored with what should be. Nothing is changed. */
export function Checks() {
  const checks = useQuery({
    queryKey: ['operators', 'checks'],
    queryFn: () => bodyOf(admin.GET('/admin/v1/checks')),
    refetchInterval: ({ state }) => (state.data?.runs.some((run) => isUnderWay(run.state)) ? LIVE_MS : false),
  })
  const start = useAction(
    (check: Check) => bodyOf(admin.POST('/admin/v1/checks/{check}/runs', { params: { path: { check } }, body: {} })),
    { done: ({ check }) => `${check} runs.`, changes: ['operators'] },
  )
  return (
    <Section title="Checks" of={checks}>
      {({ runs, unanswered }) => {
        const last = new Map(runs.map((run) => [run.check, run]))
        return (
          <>
            <Unanswered of={unanswered} />
            <Table
              label="Checks"
              rows={CHECKS}
              keyOf={([check]) => check}
              columns={[
                { head: 'Check', cell: ([check]) => check, isShort: true },
                { head: 'Of', cell: ([, what]) => what },
                { head: 'Last run', cell: ([check]) => <Run of={last.get(check)} /> },
                { head: 'At', cell: ([check]) => <Time at={last.get(check)?.created_at} /> },
                {
                  head: 'Start',
                  cell: ([check]) => (
                    <Act
                      disabled={isUnderWay(last.get(check)?.state)}
                      isBusy={start.isPending && start.variables === check}
                      onAct={() => start.mutate(check)}
                    >
                      Run {check}
                    </Act>
                  ),
                  isShort: true,
                },
              ]}
            />
            {runs.some(({ found }) => found > 0) && <Runbook section="Check everything" />}
          </>
        )
      }}
    </Section>
  )
}

interface RunProps {
  readonly of:
    | { readonly id: string; readonly check: string; readonly state: string; readonly found: number }
    | undefined
}

function Run({ of: run }: RunProps) {
  if (run === undefined) return 'never'
  return (
    <span>
      {run.state === 'SUCCEEDED' && run.found > 0 ? <Badge state="FOUND" tone="bad" /> : <Badge state={run.state} />}{' '}
      <Link to="/operators/system/checks/$check/$run" params={{ check: run.check, run: run.id }}>
        {run.found === 0 ? 'nothing found' : `${run.found.toLocaleString()} found`}
      </Link>
    </span>
  )
}
