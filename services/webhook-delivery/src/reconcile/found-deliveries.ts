import type { AnySql } from '@backoffice/postgres/database.ts'
import type { ExpectedDelivery, FoundDelivery } from './judgement.ts'

/** A found delivery with the number of its expected delivery, from 1. */
type FoundRow = FoundDelivery & { ordinal: number }

/** The rows of some thousand expected deliveries, in order: one statement of index look-ups, each in one partition. */
export async function findDeliveries(
  sql: AnySql,
  expected: readonly ExpectedDelivery[],
): Promise<(readonly FoundDelivery[])[]> {
  const rows = await sql<FoundRow[]>`
    select expected.ordinal::integer, found.status, found.next_attempt_at as "nextAttemptAt",
      coalesce(found.lease_until > clock_timestamp(), false) as "isClaimed", found.attempts_made as "attemptsMade",
      made.attempts, made.successes, stored.id is not null as "hasEvent"
    from unnest(
      ${expected.map(({ workspaceId }) => workspaceId)}::uuid[], ${expected.map(({ eventId }) => eventId)}::uuid[],
      ${expected.map(({ endpointId }) => endpointId)}::uuid[]
    ) with ordinality as expected (workspace_id, event_id, endpoint_id, ordinal)
    cross join lateral (
      select id, status, next_attempt_at, lease_until, attempts_made from delivery
      where workspace_id = expected.workspace_id and event_id = expected.event_id and endpoint_id = expected.endpoint_id
      limit 2 -- enough to find a double
    ) found
    cross join lateral (
      select count(*) as attempts, count(*) filter (where error_class is null) as successes from attempt
      where workspace_id = expected.workspace_id and delivery_id = found.id
    ) made
    left join lateral (
      select id from event where workspace_id = expected.workspace_id and id = expected.event_id limit 1
    ) stored on true`
  const byOrdinal = Map.groupBy(rows, ({ ordinal }) => ordinal)
  return expected.map((_, index) => byOrdinal.get(index + 1) ?? [])
}

/** Marks the expected deliveries whose events are in the backlog of the fan-out. */
export async function withBacklog(sql: AnySql, expected: readonly ExpectedDelivery[]): Promise<ExpectedDelivery[]> {
  const rows = await sql<{ ordinal: number }[]>`
    select expected.ordinal::integer
    from unnest(
      ${expected.map(({ workspaceId }) => workspaceId)}::uuid[], ${expected.map(({ eventId }) => eventId)}::uuid[],
      ${expected.map(({ endpointId }) => endpointId)}::uuid[]
    ) with ordinality as expected (workspace_id, event_id, endpoint_id, ordinal)
    join fan_out_backlog on fan_out_backlog.workspace_id = expected.workspace_id
      and fan_out_backlog.event_id = expected.event_id and expected.endpoint_id = any(fan_out_backlog.endpoint_ids)`
  const waiting = new Set(rows.map(({ ordinal }) => ordinal))
  return expected.map((delivery, index) => ({ ...delivery, isInBacklog: waiting.has(index + 1) }))
}
