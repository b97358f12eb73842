import type { AnySql, Fragment } from '@backoffice/postgres/database.ts'
import { isUniqueViolation } from '@backoffice/postgres/postgres-errors.ts'
import { partsOf } from '@backoffice/runtime/parts-of.ts'
import { delayAfter } from '@backoffice/runtime/retry-schedule.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import type { Target } from '../endpoints/targets.ts'
import type { Job } from '../scheduling/job.ts'
import { notifications } from '../shards/notify-due.ts'
import type { MatchedEvent } from './matching.ts'

export interface DeliveryWriting {
  readonly dispatcher: Pick<Dispatcher, 'beginWriting'>
  /** Delay before each attempt in milliseconds. */
  readonly schedule: readonly number[]
}

/** Deliveries inserted by one statement at most, and about how many bytes of bodies are stored by one. */
const DELIVERIES_A_STATEMENT = 2500
const BYTES_A_STATEMENT = 4 * 1024 * 1024

/** Inserts the deliveries of events that are stored, or are being stored, and tells the owners of their endpoints. */
export async function insertDeliveries(
  writing: DeliveryWriting,
  tx: AnySql,
  events: readonly MatchedEvent[],
): Promise<void> {
  for (const part of partsOf(plannedOf(events), DELIVERIES_A_STATEMENT)) await insertPlanned(writing, tx, part)
}

/**
 * Stores a few events with their deliveries in one statement, if none is stored yet and `condition` holds when it
 * begins. Returns whether it has written them. Events that come again are rare, and inserts that pass over them take
 * longer.
 */
export const writeDeliveriesIf = (
  condition: Fragment,
  writing: DeliveryWriting,
  sql: AnySql,
  events: readonly MatchedEvent[],
): Promise<boolean> =>
  insertPlanned(writing, sql, plannedOf(events), { events, condition }).catch((error) => {
    if (isUniqueViolation(error)) return false
    throw error
  })

/** Whether `writeDeliveriesIf` takes these events. */
export const areFew = (events: readonly MatchedEvent[]): boolean =>
  deliveriesOf(events) <= DELIVERIES_A_STATEMENT &&
  events.reduce((sum, { bytes }) => sum + bytes.length, 0) <= BYTES_A_STATEMENT

export const deliveriesOf = (events: readonly MatchedEvent[]): number =>
  events.reduce((deliveries, { targets }) => deliveries + targets.length, 0)

interface PlannedDelivery {
  readonly event: MatchedEvent
  readonly target: Target
}

const plannedOf = (events: readonly MatchedEvent[]): PlannedDelivery[] =>
  events.flatMap((event) => event.targets.map((target) => ({ event, target })))

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

/**
 * Inserts deliveries and passes over those that are there. With `added` it inserts these events too if the condition
 * holds, and fails if one of them is there. First attempts that are due at once are kept in memory, so that this
 * process need not read what it has written. Returns whether the condition holds.
 */
async function insertPlanned(
  { dispatcher, schedule }: DeliveryWriting,
  sql: AnySql,
  planned: readonly PlannedDelivery[],
  added?: { readonly events: readonly MatchedEvent[]; readonly condition: Fragment },
): Promise<boolean> {
  const delayMs = delayAfter(0, schedule, Math.random()) ?? 0
  const begun = delayMs > 0 ? undefined : dispatcher.beginWriting()
  let jobs: readonly Job[] = []
  try {
    // Ids have the database's time and order, and due times have that of the ids: first attempts are read in it.
    const rows = await sql<{ isValid: boolean; id: string | null; eventId: string; endpointId: string }[]>`
      with checked as (select ${added?.condition ?? sql`true`} as is_valid),
      ${added ? sql`stored as (${insertedEvents(sql, added.events)} where (select is_valid from checked)),` : sql``}
      added as (
        insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, next_attempt_at, created_at)
        select workspace_id, endpoint_id, id, event_id, event_type,
          uuid_extract_timestamp(id) + ${delayMs}::integer * interval '1 millisecond', uuid_extract_timestamp(id)
        from (
          select uuidv7() as id, * from json_to_recordset(${JSON.stringify(planned.map(deliveryRow))}::text::json)
            as delivery (workspace_id uuid, endpoint_id uuid, event_id uuid, event_type text)
          where (select is_valid from checked)
        ) as planned
        ${added ? sql`` : sql`on conflict (event_id, endpoint_id) do nothing`}
        returning id, event_id, endpoint_id
      ),
      notified as (${notifications(sql, sql`select endpoint_id::text, min(id::text) as first_id from added group by endpoint_id`, begun?.token)})
      select is_valid as "isValid", id, event_id as "eventId", endpoint_id as "endpointId"
      -- PostgreSQL runs a WITH query that only selects, as that of the NOTIFY, only if the statement uses it.
      from checked left join added on true where (select count(*) from notified) >= 0`
    const inserted = new Map(rows.map(({ id, eventId, endpointId }) => [keyOf(eventId, endpointId), id]))
    jobs = planned.flatMap((delivery) => {
      const key = keyOf(delivery.event.id, delivery.target.id)
      const id = inserted.get(key)
      // An event that comes twice is one delivery.
      inserted.delete(key)
      return id ? [jobOf(id, delivery)] : []
    })
    return rows[0]?.isValid ?? false
  } finally {
    begun?.wrote(jobs)
  }
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
    await tx`${insertedEvents(tx, part)} on conflict do nothing`
  }
}

const insertedEvents = (sql: AnySql, events: readonly MatchedEvent[]) => sql`
  insert into event (workspace_id, id, type, key, body, occurred_at, traceparent)
  select workspace_id, id, type, key, body, occurred_at, traceparent
  from json_to_recordset(${JSON.stringify(events.map(eventRow))}::text::json) as event (
    workspace_id uuid, id uuid, type text, key text, body text, occurred_at timestamptz, traceparent text
  )`

const eventRow = ({ workspaceId, id, type, key, body, occurredAt, traceparent }: MatchedEvent) => ({
  workspace_id: workspaceId,
  id,
  type,
  key,
  body,
  occurred_at: occurredAt,
  traceparent,
})
