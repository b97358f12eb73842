import { EVENT_TOPICS } from '@backoffice/contracts/events.ts'
import type { ConsumerDefinition } from '@backoffice/messaging/consumers/consumer-definition.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import type { EndpointDirectory } from '../endpoints/endpoint-directory.ts'
import { withoutErased } from '../erasures/without-erased.ts'
import type { BacklogWorker } from './backlog-worker.ts'
import { addToBacklog, workspacesInBacklog } from './fan-out-backlog.ts'
import { type Incoming, type MatchedEvent, matchEvents, type ReadEvent } from './matching.ts'
import { readEventSchema } from './platform-event.ts'
import { type DeliveryWriting, deliveriesOf, writeDeliveries } from './write-deliveries.ts'

export interface FanOut extends DeliveryWriting {
  readonly directory: EndpointDirectory
  /** The clock of the database. */
  readonly clock: () => Date
  readonly backlog: Pick<BacklogWorker, 'note'>
}

/** The consumer group that turns events into deliveries. */
export const FAN_OUT = 'webhook-delivery.fan-out'

const BATCH_SIZE = 500
/** Deliveries inserted with the events of one transaction at most, and those of one workspace among them (OP-166). */
const MAX_DELIVERIES = { all: 2000, workspace: 500 } as const

/**
 * Turns each event into one delivery per matching endpoint. Replays change nothing: (event_id, endpoint_id) is unique.
 * Events are independent, so one that cannot be processed does not hold back later ones of its resource (OP-58).
 */
export const fanOut = (options: FanOut): ConsumerDefinition<ReadEvent> => ({
  name: FAN_OUT,
  topics: EVENT_TOPICS,
  schema: readEventSchema(options.clock),
  isEachIndependent: true,
  batchSize: async () => BATCH_SIZE,
  handle: (records, tx) => fanOutEvents(options, tx, records),
})

/** Events of workspaces with many deliveries wait in the backlog, behind others. Call the result after the commit. */
export async function fanOutEvents(options: FanOut, tx: AnySql, incoming: readonly Incoming[]): Promise<() => void> {
  const workspaceIds = [...new Set(incoming.map(({ value }) => value.workspace_id))]
  const [workspaces, inBacklog, readable] = await Promise.all([
    options.directory.of(tx, workspaceIds),
    workspacesInBacklog(tx, workspaceIds),
    withoutErased(tx, incoming),
  ])
  const events = matchEvents(readable, workspaces)
  const isInTime = withFewDeliveries(events, inBacklog)
  const [few, many] = [events.filter(isInTime), events.filter((event) => !isInTime(event))]
  await Promise.all([writeDeliveries(options, tx, few), addToBacklog(tx, many)])
  return () => options.backlog.note(many.map(({ workspaceId }) => workspaceId))
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
