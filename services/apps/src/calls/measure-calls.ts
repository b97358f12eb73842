import type { AnySql, Database } from '@backoffice/postgres/database.ts'
import { MEASURED_ROWS, measureRows } from '@backoffice/postgres/measure-rows.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { gauge } from '@backoffice/runtime/metrics.ts'

const due = gauge(
  'app_calls_due',
  'Calls to apps that are due and that no replica makes now, all together up to ten thousand',
)
const oldestDue = gauge('app_calls_oldest_due_seconds', 'For how long the oldest of these calls has been due', 's')
const accesses = gauge(
  'app_accesses_to_end',
  'Uninstalled apps whose key or endpoint may still work, up to ten thousand',
)
const oldestAccess = gauge(
  'app_oldest_access_to_end_seconds',
  'Time since the uninstallation of the first of these',
  's',
)

const KINDS = ['provision', 'uninstall'] as const

/** Measures the calls to apps that are due, and the uninstalled apps that still have access. */
export const measureCalls = (worker: Database, logger: Logger) =>
  measureRows('calls to apps', worker, logger, async (tx) => {
    await measureDue(tx)
    await measureAccesses(tx)
  })

/** A call that waits for an earlier one of the same app and workspace is not due, as in `claimCalls`. */
async function measureDue(tx: AnySql): Promise<void> {
  const found = await tx<{ kind: (typeof KINDS)[number]; calls: number; seconds: number }[]>`
    select kind, count(*)::integer as calls, extract(epoch from now() - min(due_at))::float8 as seconds
    from (
      select kind, access_ended_at, due_at, claimed_until,
        not exists (
          select from call as earlier
          where earlier.workspace_id = call.workspace_id and earlier.app_id = call.app_id
            and earlier.created_at < call.created_at
        ) as is_next
      from call
      where due_at <= now() and not (kind = 'provision' and exists (
        select from app where app.id = call.app_id and app.suspended_at is not null
      ))
      order by due_at limit ${MEASURED_ROWS}
    ) as due
    where is_next and (kind = 'provision' or access_ended_at is not null) and coalesce(claimed_until <= now(), true)
    group by kind`
  for (const kind of KINDS) {
    const { calls = 0, seconds = 0 } = found.find((row) => row.kind === kind) ?? {}
    due.record(calls, { call: kind })
    oldestDue.record(Math.max(0, seconds), { call: kind })
  }
}

/** Counts calls that are not due, too: after a failure the next attempt may be an hour away. */
async function measureAccesses(tx: AnySql): Promise<void> {
  const [found] = await tx<[{ calls: number; seconds: number }]>`
    select count(*)::integer as calls, coalesce(extract(epoch from now() - min(uninstalled_at)), 0)::float8 as seconds
    from (
      select workspace_id, installation_id as id from call
      where kind = 'uninstall' and access_ended_at is null order by due_at limit ${MEASURED_ROWS}
    ) as waiting join installation using (workspace_id, id)`
  accesses.record(found.calls)
  oldestAccess.record(Math.max(0, found.seconds))
}
