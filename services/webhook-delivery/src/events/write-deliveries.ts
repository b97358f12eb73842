import type { AnySql } from '@backoffice/postgres/database.ts'
import { partsOf } from '@backoffice/runtime/parts-of.ts'
import { delayAfter } from '@backoffice/runtime/retry-schedule.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import type { Target } from '../endpoints/targets.ts'
import type { Job } from '../scheduling/job.ts'
import { notifyDue } from '../shards/notify-due.ts'
import type { MatchedEvent } from './matching.ts'

export interface DeliveryWriting {
  readonly dispatcher: Pick<Dispatcher, 'keepWritten'>
  /** Delay before each attempt in milliseconds. */
  readonly schedule: readonly number[]
}

/** Deliveries inserted by one statement at most, and about how many bytes of bodies are stored by one. */
const DELIVERIES_A_STATEMENT = 2500
const BYTES_A_STATEMENT = 4 * 1024 * 1024

/** Stores events with their deliveries, and tells the owners of their endpoints. */
export async function writeDeliveries(
  writing: DeliveryWriting,
  tx: AnySql,
  events: readonly MatchedEvent[],
): Promise<void> {
  await Promise.all([storeEvents(tx, events), insertDeliveries(writing, tx, events)])
}

/**
 * As `writeDeliveries`, of events that are stored already. First attempts that are due at once are kept in memory, so
 * that this process need not read what it has written.
 */
export async function insertDeliveries(
  { dispatcher, schedule }: DeliveryWriting,
  tx: AnySql,
  events: readonly MatchedEvent[],
): Promise<void> {
  const delayMs = delayAfter(0, schedule, Math.random()) ?? 0
  const planned = events.flatMap((event) => event.targets.map((target) => ({ event, target })))
  for (const part of partsOf(planned, DELIVERIES_A_STATEMENT)) {
    const inserted = await insertPlanned(tx, part, delayMs)
    const jobs = part.flatMap((delivery) => {
      const key = keyOf(delivery.event.id, delivery.target.id)
      const id = inserted.get(key)
      // An event that comes twice is one delivery.
      inserted.delete(key)
      return id === undefined ? [] : [jobOf(id, delivery)]
    })
    const [first] = jobs
    if (first === undefined) continue
    const firstId = jobs.reduce((least, { deliveryId }) => (deliveryId < least ? deliveryId : least), first.deliveryId)
    const endpointIds = [...new Set(jobs.map(({ target }) => target.id))]
    await notifyDue(tx, endpointIds, delayMs > 0 ? undefined : { token: dispatcher.keepWritten(jobs), firstId })
  }
}

export const deliveriesOf = (events: readonly MatchedEvent[]): number =>
  events.reduce((deliveries, { targets }) => deliveries + targets.length, 0)

interface PlannedDelivery {
  readonly event: MatchedEvent
  readonly target: Target
}

const jobOf = (deliveryId: string, { event, target }: PlannedDelivery): Job => ({
  deliveryId,
  eventId: event.id,
  eventType: event.type,
  key: event.key,
  occurredAt: event.occurredAt,
  traceparent: event.traceparent,
  target,
  body: event.bytes,
  attemptsMade: 0,
  resendsMade: 0,
  resend: undefined,
  resendAt: undefined,
  deliveredAt: undefined,
})

/** Returns the ids of the deliveries that were not there yet, by event and endpoint. */
async function insertPlanned(
  sql: AnySql,
  planned: readonly PlannedDelivery[],
  delayMs: number,
): Promise<Map<string, string>> {
  // Ids have the database's time and order, and due times have that of the ids: first attempts are read in it.
  const rows = await sql<{ id: string; eventId: string; endpointId: string }[]>`
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, next_attempt_at, created_at)
    select workspace_id, endpoint_id, id, event_id, event_type,
      uuid_extract_timestamp(id) + ${delayMs}::integer * interval '1 millisecond', uuid_extract_timestamp(id)
    from (
      select uuidv7() as id, * from json_to_recordset(${JSON.stringify(planned.map(deliveryRow))}::text::json)
        as delivery (workspace_id uuid, endpoint_id uuid, event_id uuid, event_type text)
    ) as planned
    on conflict (event_id, endpoint_id) do nothing
    returning id, event_id as "eventId", endpoint_id as "endpointId"`
  return new Map(rows.map(({ id, eventId, endpointId }) => [keyOf(eventId, endpointId), id]))
}

const keyOf = (eventId: string, endpointId: string): string => `${eventId}/${endpointId}`

const deliveryRow = ({ event, target }: PlannedDelivery) => ({
  workspace_id: event.workspaceId,
  endpoint_id: target.id,
  event_id: event.id,
  event_type: event.type,
})

/** Stores events, each once whatever the number of its deliveries. One that is there stays as it is. */
export async function storeEvents(tx: AnySql, events: readonly MatchedEvent[]): Promise<void> {
  for (const part of partsOf(events, BYTES_A_STATEMENT, ({ bytes }) => bytes.length)) {
    const rows = part.map(({ bytes, targets, ...event }) => event)
    await tx`
      insert into event (workspace_id, id, type, key, body, occurred_at, traceparent)
      select "workspaceId", id, type, key, body, "occurredAt", traceparent
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as event (
        "workspaceId" uuid, id uuid, type text, key text, body text, "occurredAt" timestamptz, traceparent text
      )
      on conflict do nothing`
  }
}
