import type { AnySql } from '@backoffice/postgres/database.ts'
import type { ExpectedDelivery, FoundDelivery } from './judgement.ts'

/**
 * The rows of some thousand expected deliveries, in order: one statement of look-ups, each in one partition.
 * `isInBacklog` says whether the event is in the backlog of the fan-out; it leaves that when the rows are inserted.
 */
export async function findDeliveries(sql: AnySql, expected: readonly ExpectedDelivery[]) {
  const found = await sql<(FoundDelivery & { ordinal: number; isInBacklog: boolean; isThere: boolean })[]>`
    select expected.ordinal::integer, found.id is not null as "isThere", found.status,
      found.next_attempt_at as "nextAttemptAt", coalesce(found.busy_until > clock_timestamp(), false) as "isBusy",
      found.attempts_made as "attemptsMade", made.attempts, made.successes, stored.id is not null as "hasEvent",
      exists (
        select from fan_out_backlog where workspace_id = expected.workspace_id and event_id = expected.event_id
          and expected.endpoint_id = any(endpoint_ids)
      ) as "isInBacklog"
    from unnest(
      ${expected.map(({ workspaceId }) => workspaceId)}::uuid[], ${expected.map(({ eventId }) => eventId)}::uuid[],
      ${expected.map(({ endpointId }) => endpointId)}::uuid[]
    ) with ordinality as expected (workspace_id, event_id, endpoint_id, ordinal)
    left join lateral (
      select id, status, next_attempt_at, busy_until, attempts_made from delivery
      where workspace_id = expected.workspace_id and event_id = expected.event_id and endpoint_id = expected.endpoint_id
      limit 2 -- enough to find a double
    ) found on true
    left join lateral (
      select count(*)::integer as attempts, count(*) filter (where error_class is null)::integer as successes from attempt
      where workspace_id = expected.workspace_id and delivery_id = found.id
    ) made on true
    left join lateral (
      select id from event where workspace_id = expected.workspace_id and id = expected.event_id limit 1
    ) stored on true`
  const byOrdinal = Map.groupBy(found, ({ ordinal }) => ordinal)
  return expected.map((_, index) => {
    const rows = byOrdinal.get(index + 1) ?? []
    return { isInBacklog: rows.some((row) => row.isInBacklog), rows: rows.filter((row) => row.isThere) }
  })
}
