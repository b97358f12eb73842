import type { AnySql } from '@backoffice/postgres/database.ts'
import type { ExpectedDelivery, FoundDelivery } from './judgement.ts'

/** One row of a delivery that was asked for. */
type FoundRow = FoundDelivery & { place: number }

/** What the table has of some thousand deliveries, in their order: one statement, index probes only, each in its day's partition. */
export async function findDeliveries(
  sql: AnySql,
  expected: readonly ExpectedDelivery[],
): Promise<(readonly FoundDelivery[])[]> {
  const rows = await sql<FoundRow[]>`
    select expected.place::integer, found.status, found.next_attempt_at as "nextAttemptAt",
      coalesce(found.lease_until > now(), false) as "isClaimed", found.attempts_made as "attemptsMade",
      made.attempts, made.successes, stored.id is not null as "hasEvent"
    from unnest(
      ${expected.map(({ workspaceId }) => workspaceId)}::uuid[], ${expected.map(({ eventId }) => eventId)}::uuid[],
      ${expected.map(({ endpointId }) => endpointId)}::uuid[]
    ) with ordinality as expected (workspace_id, event_id, endpoint_id, place)
    cross join lateral (
      select id, status, next_attempt_at, lease_until, attempts_made from delivery
      where workspace_id = expected.workspace_id and event_id = expected.event_id and endpoint_id = expected.endpoint_id
      limit 2 -- more than one is one too many
    ) found
    cross join lateral (
      select count(*) as attempts, count(*) filter (where error_class is null) as successes from attempt
      where workspace_id = expected.workspace_id and delivery_id = found.id
    ) made
    left join lateral (
      select id from event where workspace_id = expected.workspace_id and id = expected.event_id limit 1
    ) stored on true`
  const byPlace = Map.groupBy(rows, ({ place }) => place)
  return expected.map((_, index) => byPlace.get(index + 1) ?? [])
}
