import type { AnySql } from '@backoffice/postgres/database.ts'
import { bodyBytes } from '../deliveries/body-bytes.ts'
import type { EndpointDirectory } from '../endpoints/endpoint-directory.ts'
import type { MatchedEvent } from './matching.ts'

/** About how many deliveries and bytes of bodies are taken at once; at most so many events of one workspace. */
const BATCH_LIMITS = { deliveries: 1000, bytes: 4 * 1024 * 1024, events: 300 } as const

interface TakenEvent extends Omit<MatchedEvent, 'bytes' | 'targets'> {
  readonly endpointIds: readonly string[]
}

/** Events out of the backlog, and the workspaces that may have more, in their turns. */
interface Taken {
  readonly events: readonly MatchedEvent[]
  readonly left: readonly string[]
}

/**
 * Takes the oldest events of some workspaces out of the backlog of a claimer: an equal share of each, and BATCH_LIMITS in all.
 * Endpoints that were deleted meanwhile get nothing (OP-97).
 */
export async function takeFromBacklog(
  tx: AnySql,
  directory: EndpointDirectory,
  claimer: number,
  workspaceIds: readonly string[],
): Promise<Taken> {
  const [taken, workspaces] = await Promise.all([takeEvents(tx, claimer, workspaceIds), directory.of(tx, workspaceIds)])
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

function takeEvents(tx: AnySql, claimer: number, workspaceIds: readonly string[]) {
  const share = Math.ceil(BATCH_LIMITS.deliveries / workspaceIds.length)
  return tx<TakenEvent[]>`
    with oldest as (
      select turn.number, waiting.*
      from unnest(${[...workspaceIds]}::uuid[]) with ordinality as turn (workspace_id, number) cross join lateral (
        select *, sum(deliveries) over (order by position) - deliveries as before from (
          select workspace_id, event_id, position, deliveries, bytes from fan_out_backlog
          where claimed_by = ${claimer} and workspace_id = turn.workspace_id
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
      delete from fan_out_backlog using bounded
      where fan_out_backlog.workspace_id = bounded.workspace_id and fan_out_backlog.event_id = bounded.event_id
        and deliveries_before < ${BATCH_LIMITS.deliveries} and bytes_before < ${BATCH_LIMITS.bytes}
      returning fan_out_backlog.workspace_id, fan_out_backlog.event_id, fan_out_backlog.position, endpoint_ids
    )
    select taken.workspace_id as "workspaceId", event.id, type, key, body, occurred_at as "occurredAt",
      traceparent, endpoint_ids as "endpointIds"
    from taken cross join lateral (
      select id, type, key, body, occurred_at, traceparent from event
      where workspace_id = taken.workspace_id and id = taken.event_id limit 1 -- looked for in its day's partition only
    ) event
    order by taken.position`
}
