import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import type { EndpointDirectory } from '../endpoints/endpoint-directory.ts'
import { bodyBytes } from '../sending/body-bytes.ts'
import type { MatchedEvent } from './matching.ts'
import { storeEvents } from './write-deliveries.ts'

/** Which of some workspaces have events in the backlog, whichever process has them. */
export async function workspacesInBacklog(tx: AnySql, workspaceIds: readonly string[]): Promise<Set<string>> {
  const rows = await tx<{ id: string }[]>`
    select id from unnest(${[...workspaceIds]}::uuid[]) as workspace (id)
    where exists (select from fan_out_backlog where workspace_id = workspace.id)`
  return new Set(rows.map(({ id }) => id))
}

/** Stores events, whose deliveries `takeFromBacklog` inserts later; in the order of `events`. */
export async function addToBacklog(tx: AnySql, events: readonly MatchedEvent[]): Promise<void> {
  if (events.length === 0) return
  await storeEvents(tx, events)
  // Each set of endpoints is sent once, and named by its number.
  const sets = [...new Set(events.map(endpointIds))]
  const numbers = new Map(sets.map((ids, index) => [ids, index + 1]))
  const rows = events.map((event, position) => ({
    workspace_id: event.workspaceId,
    event_id: event.id,
    endpoints: numbers.get(endpointIds(event)),
    bytes: event.bytes.length,
    position,
  }))
  await tx`
    with endpoints as materialized (
      select number, string_to_array(ids, ',')::uuid[] as ids
      from unnest(${sets}::text[]) with ordinality as listed (ids, number)
    )
    insert into fan_out_backlog (workspace_id, event_id, endpoint_ids, deliveries, bytes)
    select workspace_id, event_id, endpoints.ids, cardinality(endpoints.ids), bytes
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as added (workspace_id uuid, event_id uuid, endpoints bigint, bytes integer, position integer)
    join endpoints on endpoints.number = added.endpoints
    order by added.position
    on conflict do nothing`
}

const endpointIds = ({ targets }: MatchedEvent): string => targets.map(({ id }) => id).join()

/** The workspaces with events in the backlog. */
export async function workspacesWithBacklog(sql: Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with recursive waiting as (
      (select workspace_id from fan_out_backlog where claimed_by is null order by workspace_id limit 1)
      union all
      select following.workspace_id
      from waiting cross join lateral (
        select workspace_id from fan_out_backlog where claimed_by is null and workspace_id > waiting.workspace_id
        order by workspace_id limit 1
      ) following
    )
    select workspace_id as id from waiting`
  return rows.map(({ id }) => id)
}

/** About how many deliveries and bytes of bodies are taken at once; at most so many events of one workspace. */
const BATCH_LIMITS = { deliveries: 1000, bytes: 4 * 1024 * 1024, events: 300 } as const

interface TakenEvent extends Omit<MatchedEvent, 'bytes' | 'targets'> {
  readonly endpointIds: readonly string[]
}

/**
 * Takes the oldest events of some workspaces, an equal share of each. Endpoints deleted meanwhile get nothing (OP-97).
 * `left` are the workspaces that may have more, in their turns.
 */
export async function takeFromBacklog(
  tx: AnySql,
  directory: EndpointDirectory,
  workspaceIds: readonly string[],
): Promise<{ events: readonly MatchedEvent[]; left: readonly string[] }> {
  const [taken, workspaces] = await Promise.all([takeEvents(tx, workspaceIds), directory.of(tx, workspaceIds)])
  const events = taken.map(({ endpointIds, ...event }) => {
    const targets = workspaces.get(event.workspaceId)
    return { ...event, bytes: bodyBytes(event.body), targets: endpointIds.flatMap((id) => targets?.get(id) ?? []) }
  })
  const served = new Set(taken.map(({ workspaceId }) => workspaceId))
  const passedOver = isFull(taken) ? workspaceIds.filter((id) => !served.has(id)) : []
  return { events, left: [...passedOver, ...served] }
}

const isFull = (taken: readonly TakenEvent[]): boolean =>
  taken.reduce((sum, { endpointIds }) => sum + endpointIds.length, 0) >= BATCH_LIMITS.deliveries ||
  taken.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0) >= BATCH_LIMITS.bytes

function takeEvents(tx: AnySql, workspaceIds: readonly string[]) {
  const share = Math.ceil(BATCH_LIMITS.deliveries / workspaceIds.length)
  return tx<TakenEvent[]>`
    with oldest as (
      select turn.number, waiting.*
      from unnest(${[...workspaceIds]}::uuid[]) with ordinality as turn (workspace_id, number) cross join lateral (
        select *, sum(deliveries) over (order by position) - deliveries as before from (
          select ctid as place, position, deliveries, bytes from fan_out_backlog
          where claimed_by is null and workspace_id = turn.workspace_id
          order by position limit ${Math.min(BATCH_LIMITS.events, share)}
        ) first
      ) waiting
      where waiting.before < ${share}
    ),
    bounded as (
      select *,
        sum(deliveries) over (order by number, position) - deliveries as deliveries_before,
        sum(bytes) over (order by number, position) - bytes as bytes_before
      from oldest
    ),
    taken as (
      delete from fan_out_backlog
      where ctid = any(array(
        select place from bounded
        where deliveries_before < ${BATCH_LIMITS.deliveries} and bytes_before < ${BATCH_LIMITS.bytes}
      ))
      returning workspace_id, event_id, position, endpoint_ids
    )
    select taken.workspace_id as "workspaceId", event.id, type, key, body, occurred_at as "occurredAt",
      traceparent, endpoint_ids as "endpointIds"
    from taken cross join lateral (
      select id, type, key, body, occurred_at, traceparent from event
      where workspace_id = taken.workspace_id and id = taken.event_id limit 1 -- looked for in its day's partition only
    ) event
    order by taken.position`
}
