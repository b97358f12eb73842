import { EVENT_TOPICS } from '@backoffice/contracts/events.ts'
import type { ConsumerDefinition } from '@backoffice/messaging/consumers/consumer-definition.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { valuesOf } from '@backoffice/postgres/versioned-cache.ts'
import type { KeptEndpoints } from '../endpoints/endpoint-directory.ts'
import { erasedOf, personalOf, withoutErased } from '../erasures/without-erased.ts'
import type { BacklogWorker } from './backlog-worker.ts'
import { addToBacklog, workspacesInBacklog } from './fan-out-backlog.ts'
import { type Incoming, type MatchedEvent, matchEvents, type ReadEvent } from './matching.ts'
import { readEventSchema } from './platform-event.ts'
import {
  areFew,
  type DeliveryWriting,
  deliveriesOf,
  insertDeliveries,
  storeEvents,
  writeDeliveriesIf,
} from './write-deliveries.ts'

export interface FanOut extends DeliveryWriting {
  readonly directory: KeptEndpoints
  /** The clock of the database. */
  readonly clock: () => Date
  readonly backlog: Pick<BacklogWorker, 'note'>
  /** Called with the events that have endpoints. */
  readonly noteMatched?: (events: readonly MatchedEvent[]) => void
}

/** The consumer group that turns events into deliveries. */
export const FAN_OUT = 'webhook-delivery.fan-out'

/** Deliveries inserted with the events of one transaction at most, and those of one workspace among them (OP-166). */
const MAX_DELIVERIES = { all: 2000, workspace: 500 } as const
/** How long more events of a stream are gathered when none has had an endpoint for a second. Others wait for none. */
const [STREAM_MS, UNMATCHED_FOR_MS] = [50, 1000]
/** Where so many events come at once, more are probably behind them. */
const BURST = 50

/**
 * Turns each event into one delivery per matching endpoint. Replays change nothing: (event_id, endpoint_id) is unique.
 * Events are independent, so one that cannot be processed does not hold back later ones of its resource (OP-58).
 */
export function fanOut(options: FanOut): ConsumerDefinition<ReadEvent> {
  let matchedAt = Number.NEGATIVE_INFINITY
  const noteMatched = (events: readonly MatchedEvent[]) => {
    if (events.length > 0) matchedAt = performance.now()
  }
  const noting = { ...options, noteMatched }
  return {
    name: FAN_OUT,
    topics: EVENT_TOPICS,
    schema: readEventSchema(options.clock),
    isEachIndependent: true,
    streamMs: () => (performance.now() - matchedAt < UNMATCHED_FOR_MS ? 0 : STREAM_MS),
    handle: (records, tx) => fanOutEvents(noting, tx, records),
    handleAtOnce: (records, sql) => fanOutAtOnce(noting, sql, records),
  }
}

/**
 * Writes the deliveries of a few events in one statement, with what is in memory of their workspaces. That statement
 * also sees whether it is true still; nothing is written, and undefined returned, unless it is.
 */
async function fanOutAtOnce(
  options: FanOut,
  sql: AnySql,
  incoming: readonly Incoming[],
): Promise<(() => void) | undefined> {
  const { directory } = options
  const workspaceIds = [...new Set(incoming.map(({ value }) => value.workspace_id))]
  const kept = directory.kept(workspaceIds)
  if (kept === undefined) return undefined
  const events = matchEvents(incoming, valuesOf(kept))
  options.noteMatched?.(events)
  if (!areFew(events) || !events.every(withFewDeliveries(events, new Set()))) return undefined
  const versions = workspaceIds.map((id) => kept.get(id)?.version ?? 0)
  const personal = personalOf(incoming)
  const isTrueStill = sql`
    not exists (
      select from unnest(${workspaceIds}::uuid[], ${versions}::bigint[]) as seen (workspace_id, version)
      left join endpoint_set on endpoint_set.workspace_id = seen.workspace_id
      where coalesce(endpoint_set.version, 0) <> seen.version
    )
    and not exists (select from fan_out_backlog where workspace_id = any(${workspaceIds}::uuid[]))
    and not exists (${erasedOf(sql, personal)})`
  const askedAt = performance.now()
  if (!(await writeDeliveriesIf(isTrueStill, options, sql, events))) return undefined
  directory.confirm(kept, askedAt)
  return () => undefined
}

/** Events of workspaces with many deliveries wait in the backlog, behind others. Call the result after the commit. */
export async function fanOutEvents(options: FanOut, tx: AnySql, incoming: readonly Incoming[]): Promise<() => void> {
  const workspaceIds = [...new Set(incoming.map(({ value }) => value.workspace_id))]
  const [workspaces, inBacklog, readable] = await Promise.all([
    options.directory.of(tx, workspaceIds),
    workspacesInBacklog(tx, workspaceIds),
    withoutErased(tx, incoming),
  ])
  const events = matchEvents(readable, workspaces)
  options.noteMatched?.(events)
  const isInTime = withFewDeliveries(events, inBacklog)
  const [few, many] = [events.filter(isInTime), events.filter((event) => !isInTime(event))]
  await Promise.all([storeEvents(tx, few), insertDeliveries(options, tx, few), addToBacklog(tx, many)])
  const workspacesLeft = many.map(({ workspaceId }) => workspaceId)
  return () => options.backlog.note(workspacesLeft, many.length >= BURST)
}

/** Chooses the workspaces with the fewest deliveries, and no backlog: no event may overtake another (OP-74). */
function withFewDeliveries(
  events: readonly MatchedEvent[],
  inBacklog: ReadonlySet<string>,
): (event: MatchedEvent) => boolean {
  const byWorkspace = Map.groupBy(events, ({ workspaceId }) => workspaceId)
  const few = new Set<string>()
  let left: number = MAX_DELIVERIES.all
  const counts = [...byWorkspace].map(([workspaceId, events]) => ({ workspaceId, deliveries: deliveriesOf(events) }))
  for (const { workspaceId, deliveries } of counts.sort((a, b) => a.deliveries - b.deliveries)) {
    if (deliveries > Math.min(left, MAX_DELIVERIES.workspace)) break
    if (inBacklog.has(workspaceId)) continue
    few.add(workspaceId)
    left -= deliveries
  }
  return ({ workspaceId }) => few.has(workspaceId)
}
