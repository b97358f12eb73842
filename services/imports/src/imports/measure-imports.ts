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
  'The longest time in which no import of a workspace has changed: of those in validation, and of those that are applied',
  's',
)

/**
 * Measures how many imports are in each state, and whether those of a workspace stand still: they are validated in
 * turn, and applied in turn.
 */
export const measureImports = (db: Database, logger: Logger) =>
  measureRows('imports', db, logger, async (tx) => {
    const recent = await tx<{ status: ImportStatus; imports: number }[]>`
      select status, count(*)::integer as imports
      from (select status from import where updated_at > now() - interval '1 hour' order by updated_at desc limit ${MEASURED_ROWS}) as recent
      group by status`
    const counts = new Map(recent.map((row) => [row.status, row.imports]))
    for (const status of IMPORT_STATUSES) changed.record(counts.get(status) ?? 0, { status })
    const stages = {
      validation: tx`status in ('UPLOADED', 'VALIDATING')`,
      applying: tx`started_at is not null and ended_at is null`,
    }
    for (const [stage, isIn] of Object.entries(stages)) {
      const [{ seconds }] = await tx<[{ seconds: number }]>`
        select coalesce(extract(epoch from now() - min(last_change)), 0)::float8 as seconds
        from (
          select max(updated_at) as last_change
          from (select workspace_id, updated_at from import where ${isIn} limit ${MEASURED_ROWS}) as waiting
          group by workspace_id
        ) as of_workspaces`
      idle.record(Math.max(0, seconds), { stage })
    }
  })
