import { EVENT_TOPICS } from '@backoffice/contracts/events.ts'
import type { ConsumerDefinition } from '@backoffice/messaging/consumer.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { v7 as uuidv7 } from 'uuid'
import { LEASE_S } from '../deliveries/claims.ts'
import type { Dispatcher } from '../deliveries/dispatcher.ts'
import type { Job } from '../deliveries/job.ts'
import { nextAttemptAt } from '../deliveries/retry-schedule.ts'
import type { EndpointDirectory } from '../endpoints/endpoint-directory.ts'
import { isCatchingUp, isPaused, type Target } from '../endpoints/targets.ts'
import { FAN_OUT, readEventSchema } from './event-schema.ts'
import { type Incoming, type MatchedEvent, matchEvents, type ReadEvent } from './matching.ts'

export interface FanOut {
  readonly directory: EndpointDirectory
  readonly dispatcher: Dispatcher
  /** Delay before each attempt in milliseconds. */
  readonly schedule: readonly number[]
}

/** Events that share a transaction at most, and about how many deliveries, going by the events before them. */
const EVENTS_AT_ONCE = 500
const DELIVERIES_AT_ONCE = 2000
/** A few events do not wait for room: they are not what fills it. */
const FEW_EVENTS = 20
/** Deliveries inserted by one statement, about: the batch of a workspace with many endpoints takes several. */
const DELIVERIES_A_STATEMENT = 5000

/**
 * Turns each event into one delivery per matching endpoint. Replays change nothing: (event_id, endpoint_id) is unique. Each
 * event tells a fact of its own, so one that cannot be delivered keeps no later one of its resource back (OP-58).
 */
export const fanOut = (options: FanOut): ConsumerDefinition<ReadEvent> => {
  let perEvent = 1
  return {
    name: FAN_OUT,
    topics: EVENT_TOPICS,
    schema: readEventSchema(() => new Date()),
    isEachIndependent: true,
    async batchSize(atHand) {
      if (atHand > FEW_EVENTS) await options.dispatcher.untilRoom()
      return Math.ceil(Math.min(EVENTS_AT_ONCE, DELIVERIES_AT_ONCE / perEvent))
    },
    async handle(records, tx) {
      const events = await matchedEvents(options, tx, records)
      perEvent = Math.max(1, deliveriesOf(events) / records.length)
      return writeDeliveries(options, tx, events)
    },
  }
}

/**
 * Writes the deliveries of a batch of events. First attempts that find room in memory are claimed with their insert.
 * Returns what hands them to the dispatcher, to be called once the transaction is committed.
 */
export const fanOutEvents = async (options: FanOut, tx: AnySql, incoming: readonly Incoming[]): Promise<() => void> =>
  writeDeliveries(options, tx, await matchedEvents(options, tx, incoming))

async function matchedEvents({ directory }: FanOut, tx: AnySql, incoming: readonly Incoming[]) {
  const workspaceIds = incoming.map(({ value }) => value.workspace_id)
  return matchEvents(incoming, await directory.of(tx, workspaceIds))
}

const deliveriesOf = (events: readonly MatchedEvent[]): number =>
  events.reduce((deliveries, { targets }) => deliveries + targets.length, 0)

async function writeDeliveries({ dispatcher, schedule }: FanOut, tx: AnySql, events: readonly MatchedEvent[]) {
  const now = new Date()
  const claimedAt = performance.now()
  const dueAt = nextAttemptAt(0, now, schedule, Math.random()) ?? now
  const plan = dueAt <= now ? plannerFor(dispatcher, now) : planDelivery
  const jobs: Job[] = []
  const waiting = new Set<string>()
  for (const part of partsOf(events)) {
    const planned = part.flatMap((event) => event.targets.map((target) => plan(event, target)))
    const inserted = await insertDeliveries(tx, part, planned, dueAt)
    for (const delivery of planned) {
      if (!inserted.has(delivery.id)) continue
      if (isPaused(delivery.target)) continue
      if (delivery.claimedBy === undefined) waiting.add(delivery.target.id)
      else jobs.push(jobOf(delivery, delivery.claimedBy, claimedAt))
    }
  }
  return () => {
    dispatcher.accept(jobs)
    if (waiting.size > 0) dispatcher.noteWaiting(waiting, dueAt)
  }
}

function* partsOf(events: readonly MatchedEvent[]): Generator<MatchedEvent[]> {
  let part: MatchedEvent[] = []
  let deliveries = 0
  for (const event of events) {
    part.push(event)
    deliveries += event.targets.length
    if (deliveries < DELIVERIES_A_STATEMENT) continue
    yield part
    part = []
    deliveries = 0
  }
  if (part.length > 0) yield part
}

interface PlannedDelivery {
  readonly id: string
  readonly event: MatchedEvent
  readonly target: Target
  /** Set when the first attempt is made from memory, straight after the commit. */
  readonly claimedBy: number | undefined
}

const planDelivery = (event: MatchedEvent, target: Target, claimedBy?: number): PlannedDelivery => ({
  id: uuidv7(),
  event,
  target,
  claimedBy,
})

/** Plans first attempts from memory as long as there are places, and none for a workspace that is or was suspended just now. */
function plannerFor(dispatcher: Dispatcher, now: Date): typeof planDelivery {
  const claimer = dispatcher.claimerId
  const hasPlace = dispatcher.places()
  return (event, target) => {
    const isHeld = !isCatchingUp(target, now) && hasPlace(target, event.bytes.length)
    return planDelivery(event, target, isHeld ? claimer : undefined)
  }
}

const jobOf = ({ id: deliveryId, event, target }: PlannedDelivery, claimedBy: number, claimedAt: number): Job => ({
  deliveryId,
  eventId: event.id,
  eventType: event.type,
  key: event.key,
  occurredAt: event.occurredAt,
  target,
  body: event.bytes,
  attemptsMade: 0,
  resendsMade: 0,
  resend: undefined,
  resendAt: undefined,
  deliveredAt: undefined,
  claimedBy,
  claimedAt,
})

/** Inserts events and deliveries in one statement; returns the ids of the deliveries that were not there yet. */
async function insertDeliveries(
  sql: AnySql,
  events: readonly MatchedEvent[],
  planned: readonly PlannedDelivery[],
  dueAt: Date,
): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    with stored as (
      insert into event (workspace_id, id, type, key, body, occurred_at)
      select workspace_id, id, type, key, body, occurred_at
      from json_to_recordset(${JSON.stringify(events.map(eventRow))}::text::json)
        as event (workspace_id uuid, id uuid, type text, key text, body text, occurred_at timestamptz)
      on conflict do nothing
    )
    insert into delivery (
      workspace_id, endpoint_id, id, event_id, event_type, next_attempt_at, created_at, claimed_by, lease_until
    )
    select workspace_id, endpoint_id, id, event_id, event_type, ${dueAt}, uuid_extract_timestamp(id), claimed_by,
      case when claimed_by is not null then now() + make_interval(secs => ${LEASE_S}) end
    from json_to_recordset(${JSON.stringify(planned.map(deliveryRow))}::text::json)
      as delivery (workspace_id uuid, endpoint_id uuid, id uuid, event_id uuid, event_type text, claimed_by integer)
    on conflict (event_id, endpoint_id) do nothing
    returning id`
  return new Set(rows.map(({ id }) => id))
}

const eventRow = ({ workspaceId, id, type, key, body, occurredAt }: MatchedEvent) => ({
  workspace_id: workspaceId,
  id,
  type,
  key,
  body,
  occurred_at: occurredAt.toISOString(),
})

const deliveryRow = ({ id, event, target, claimedBy }: PlannedDelivery) => ({
  workspace_id: event.workspaceId,
  endpoint_id: target.id,
  id,
  event_id: event.id,
  event_type: event.type,
  claimed_by: claimedBy,
})
