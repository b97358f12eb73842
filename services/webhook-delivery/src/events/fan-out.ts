import { EVENT_TOPICS } from '@backoffice/contracts/events.ts'
import type { ConsumerDefinition } from '@backoffice/messaging/consumer.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { v7 as uuidv7 } from 'uuid'
import { LEASE_S } from '../deliveries/claims.ts'
import type { Dispatcher } from '../deliveries/dispatcher.ts'
import { nextAttemptAt } from '../deliveries/retry-schedule.ts'
import type { EndpointDirectory, Target } from '../endpoints/endpoint-directory.ts'
import { type Incoming, type MatchedEvent, matchEvents, ReadEvent } from './matching.ts'

export interface FanOut {
  readonly directory: EndpointDirectory
  readonly dispatcher: Dispatcher
  /** Delay before each attempt in milliseconds. */
  readonly schedule: readonly number[]
}

/** Turns each event into one delivery per matching endpoint. Replays change nothing: (event_id, endpoint_id) is unique. */
export const fanOut = (options: FanOut): ConsumerDefinition<ReadEvent> => ({
  name: 'webhook-delivery.fan-out',
  topics: EVENT_TOPICS,
  schema: ReadEvent,
  handle: (records, tx) => fanOutEvents(options, tx, records),
})

/**
 * Writes the deliveries of a batch of events. First attempts that find room in memory are claimed with their insert.
 * Returns what hands them to the dispatcher, to be called once the transaction is committed.
 */
export async function fanOutEvents(
  { directory, dispatcher, schedule }: FanOut,
  tx: AnySql,
  incoming: readonly Incoming[],
): Promise<() => void> {
  const workspaceIds = incoming.map(({ value }) => value.workspace_id)
  const events = matchEvents(incoming, await directory.of(tx, workspaceIds))
  if (events.length === 0) return () => undefined
  const now = new Date()
  const claimedAt = performance.now()
  const dueAt = nextAttemptAt(0, now, schedule, Math.random()) ?? now
  const planned = planDeliveries(events, dueAt <= now ? dispatcher : undefined)
  const inserted = await insertDeliveries(tx, events, planned, { now, dueAt })
  const news = planned.filter(({ id }) => inserted.has(id))
  return () => handOver(dispatcher, news, { dueAt, claimedAt })
}

interface PlannedDelivery {
  readonly id: string
  readonly event: MatchedEvent
  readonly target: Target
  /** Set when the first attempt is made from memory, straight after the commit. */
  readonly claimedBy: number | undefined
}

function planDeliveries(events: readonly MatchedEvent[], dispatcher: Dispatcher | undefined): PlannedDelivery[] {
  const claimer = dispatcher?.claimerId
  const hasPlace = dispatcher?.places() ?? (() => false)
  return events.flatMap((event) =>
    event.targets.map((target) => ({
      id: uuidv7(),
      event,
      target,
      claimedBy: hasPlace(target.id, event.body.length) ? claimer : undefined,
    })),
  )
}

/** Inserts events and deliveries in one statement; returns the ids of the deliveries that were not there yet. */
async function insertDeliveries(
  sql: AnySql,
  events: readonly MatchedEvent[],
  planned: readonly PlannedDelivery[],
  { now, dueAt }: { now: Date; dueAt: Date },
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
      workspace_id, endpoint_id, id, event_id, next_attempt_at, created_at, claimed_by, lease_until
    )
    select workspace_id, endpoint_id, id, event_id, ${dueAt}, ${now}, claimed_by,
      case when claimed_by is not null then now() + make_interval(secs => ${LEASE_S}) end
    from json_to_recordset(${JSON.stringify(planned.map(deliveryRow))}::text::json)
      as delivery (workspace_id uuid, endpoint_id uuid, id uuid, event_id uuid, claimed_by integer)
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
  claimed_by: claimedBy,
})

function handOver(
  dispatcher: Dispatcher,
  deliveries: readonly PlannedDelivery[],
  { dueAt, claimedAt }: { dueAt: Date; claimedAt: number },
): void {
  const bodies = new Map<MatchedEvent, Buffer>()
  const jobs = deliveries.flatMap(({ id, event, target, claimedBy }) => {
    if (claimedBy === undefined) return []
    const body = bodies.get(event) ?? Buffer.from(event.body)
    bodies.set(event, body)
    const { id: eventId, type: eventType, key, occurredAt } = event
    return [
      { deliveryId: id, eventId, eventType, key, occurredAt, target, body, attemptsMade: 0, claimedBy, claimedAt },
    ]
  })
  const waiting = deliveries.filter(({ claimedBy }) => claimedBy === undefined).map(({ target }) => target.id)
  if (waiting.length > 0) dispatcher.noteWaiting(new Set(waiting), dueAt)
  dispatcher.accept(jobs)
}
