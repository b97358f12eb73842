import { IMPORT_STATUSES, type ImportStatus } from '@backoffice/contracts/import.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { MEASURED_ROWS, measureRows } from '@backoffice/postgres/measure-rows.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { gauge } from '@backoffice/runtime/metrics.ts'

const changed = gauge(
  'imports_changed_last_hour',
  'Imports that changed in the last hour, by their state; all together up to ten thousand',
)
const idle = gauge(
  'imports_longest_idle_seconds',
  'The longest time without a change: of the imports of a workspace that wait for validation, and of one that is applied',
  's',
)

/** Measures how many imports are in each state, and whether one stands still. A workspace's are validated in turn. */
export const measureImports = (db: Database, logger: Logger) =>
  measureRows('imports', db, logger, async (tx) => {
    const recent = await tx<{ status: ImportStatus; imports: number }[]>`
      select status, count(*)::integer as imports
      from (select status from import where updated_at > now() - interval '1 hour' order by updated_at desc limit ${MEASURED_ROWS}) as recent
      group by status`
    const counts = new Map(recent.map((row) => [row.status, row.imports]))
    for (const status of IMPORT_STATUSES) changed.record(counts.get(status) ?? 0, { status })
    const [seconds] = await tx<[{ validation: number; applying: number }]>`
      select
        coalesce((
          select extract(epoch from now() - min(last_change))
          from (
            select max(updated_at) as last_change
            from (
              select workspace_id, updated_at from import where status in ('UPLOADED', 'VALIDATING') limit ${MEASURED_ROWS}
            ) as waiting
            group by workspace_id
          ) as of_workspaces
        ), 0)::float8 as validation,
        coalesce((
          select extract(epoch from now() - min(updated_at))
          from (
            select updated_at from import where started_at is not null and ended_at is null limit ${MEASURED_ROWS}
          ) as applied
        ), 0)::float8 as applying`
    for (const stage of ['validation', 'applying'] as const) idle.record(Math.max(0, seconds[stage]), { stage })
  })
