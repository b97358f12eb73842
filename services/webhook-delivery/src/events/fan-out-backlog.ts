import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import type { MatchedEvent } from './matching.ts'
import { storeEvents } from './store-events.ts'

/** Which of some workspaces have events in the backlog, whichever process has them. */
export async function workspacesInBacklog(tx: AnySql, workspaceIds: readonly string[]): Promise<Set<string>> {
  const rows = await tx<{ id: string }[]>`
    select id from unnest(${[...workspaceIds]}::uuid[]) as workspace (id)
    where exists (select from fan_out_backlog where workspace_id = workspace.id)`
  return new Set(rows.map(({ id }) => id))
}

/** Stores events, whose deliveries `takeFromBacklog` inserts later; in the order of `events`. */
export async function addToBacklog(
  tx: AnySql,
  claimer: number | undefined,
  events: readonly MatchedEvent[],
): Promise<void> {
  if (events.length === 0) return
  await storeEvents(tx, events)
  const [sets, numberOf] = endpointSets(events)
  const rows = events.map((event, position) => ({
    workspace_id: event.workspaceId,
    event_id: event.id,
    endpoints: numberOf.get(event),
    bytes: event.bytes.length,
    position,
  }))
  await tx`
    with endpoints as materialized (
      select number, array(select json_array_elements_text(ids)::uuid) as ids
      from json_array_elements(${JSON.stringify(sets)}::text::json) with ordinality as listed (ids, number)
    )
    insert into fan_out_backlog (workspace_id, event_id, endpoint_ids, deliveries, bytes, claimed_by)
    select workspace_id, event_id, endpoints.ids, cardinality(endpoints.ids), bytes, ${claimer ?? null}::integer
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as added (workspace_id uuid, event_id uuid, endpoints bigint, bytes integer, position integer)
    join endpoints on endpoints.number = added.endpoints
    order by added.position
    on conflict do nothing`
}

/** The different sets of endpoints, each once, and the number of each event's set, from 1. */
function endpointSets(events: readonly MatchedEvent[]): [sets: string[][], numberOf: Map<MatchedEvent, number>] {
  const numbers = new Map<string, number>()
  const sets: string[][] = []
  const numberOf = new Map<MatchedEvent, number>()
  for (const event of events) {
    const ids = event.targets.map(({ id }) => id)
    const key = ids.join()
    const number = numbers.get(key) ?? sets.push(ids)
    numbers.set(key, number)
    numberOf.set(event, number)
  }
  return [sets, numberOf]
}

/** Claims the events that no process has; returns the workspaces with events of this claimer in the backlog. */
export async function claimBacklog(sql: Sql, claimer: number): Promise<string[]> {
  await sql`update fan_out_backlog set claimed_by = ${claimer} where claimed_by is null`
  const rows = await sql<{ id: string }[]>`
    with recursive waiting as (
      (select workspace_id from fan_out_backlog where claimed_by = ${claimer} order by workspace_id limit 1)
      union all
      select following.workspace_id
      from waiting cross join lateral (
        select workspace_id from fan_out_backlog where claimed_by = ${claimer} and workspace_id > waiting.workspace_id
        order by workspace_id limit 1
      ) following
    )
    select workspace_id as id from waiting`
  return rows.map(({ id }) => id)
}
