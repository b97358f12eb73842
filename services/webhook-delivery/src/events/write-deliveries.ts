import type { AnySql } from '@backoffice/postgres/database.ts'
import { partsOf } from '@backoffice/runtime/parts-of.ts'
import { delayAfter } from '@backoffice/runtime/retry-schedule.ts'
import { LEASE_S } from '../deliveries/claims.ts'
import type { Dispatcher } from '../deliveries/dispatcher.ts'
import { isCatchingUp, isPaused, type Target } from '../endpoints/targets.ts'
import type { Job } from '../scheduling/job.ts'
import type { MatchedEvent } from './matching.ts'

export interface DeliveryWriting {
  readonly dispatcher: Pick<
    Dispatcher,
    'accept' | 'admission' | 'backpressure' | 'claimerId' | 'noteWaiting' | 'untilMemoryIsFree'
  >
  /** Delay before each attempt in milliseconds. */
  readonly schedule: readonly number[]
  /** The clock of the database. */
  readonly clock: () => Date
}

/** Deliveries inserted by one statement at most, and about how many bytes of bodies are stored by one. */
const DELIVERIES_A_STATEMENT = 2500
const BYTES_A_STATEMENT = 4 * 1024 * 1024

/** Claims first attempts that find room in memory. Call the result after the commit: it dispatches them. */
export async function writeDeliveries(
  writing: DeliveryWriting,
  tx: AnySql,
  events: readonly MatchedEvent[],
): Promise<() => void> {
  const [, handOver] = await Promise.all([storeEvents(tx, events), insertDeliveries(writing, tx, events)])
  return handOver
}

/** As `writeDeliveries`, of events that are stored already. */
export async function insertDeliveries(
  { dispatcher, schedule, clock }: DeliveryWriting,
  tx: AnySql,
  events: readonly MatchedEvent[],
): Promise<() => void> {
  const now = clock()
  const claimedAt = performance.now()
  const dueAt = new Date(now.getTime() + (delayAfter(0, schedule, Math.random()) ?? 0))
  const claimerOf = dueAt <= now ? claimerFor(dispatcher, now) : () => undefined
  const planned = events.flatMap((event) =>
    event.targets.map((target) => ({ event, target, claimedBy: claimerOf(event, target) })),
  )
  const jobs: Job[] = []
  const waiting = new Set<string>()
  for (const part of partsOf(planned, DELIVERIES_A_STATEMENT)) {
    const inserted = await insertPlanned(tx, part, dueAt)
    for (const delivery of part) {
      const key = keyOf(delivery.event.id, delivery.target.id)
      const id = inserted.get(key)
      // An event that comes twice is one delivery.
      inserted.delete(key)
      if (id === undefined || isPaused(delivery.target)) continue
      if (delivery.claimedBy === undefined) waiting.add(delivery.target.id)
      else jobs.push(jobOf(id, delivery, delivery.claimedBy, claimedAt))
    }
  }
  return () => {
    dispatcher.accept(jobs)
    if (waiting.size > 0) dispatcher.noteWaiting(waiting, dueAt)
  }
}

export const deliveriesOf = (events: readonly MatchedEvent[]): number =>
  events.reduce((deliveries, { targets }) => deliveries + targets.length, 0)

interface PlannedDelivery {
  readonly event: MatchedEvent
  readonly target: Target
  /** Set when the first attempt is made from memory, straight after the commit. */
  readonly claimedBy: number | undefined
}

/** Claims first attempts while memory has room; none of a workspace that is suspended, or was until just now. */
function claimerFor(dispatcher: DeliveryWriting['dispatcher'], now: Date) {
  const claimer = dispatcher.claimerId
  const admits = dispatcher.admission()
  return (event: MatchedEvent, target: Target): number | undefined =>
    !isCatchingUp(target, now) && admits(target, event.bytes.length) ? claimer : undefined
}

const jobOf = (deliveryId: string, { event, target }: PlannedDelivery, claimedBy: number, claimedAt: number): Job => ({
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
  claimedBy,
  claimedAt,
})

/** Returns the ids of the deliveries that were not there yet, by event and endpoint. */
async function insertPlanned(
  sql: AnySql,
  planned: readonly PlannedDelivery[],
  dueAt: Date,
): Promise<Map<string, string>> {
  // Ids have the database's time and order. The lease uses `clock_timestamp()`: `now()` is the begin of the
  // transaction, which may have waited.
  const rows = await sql<{ id: string; eventId: string; endpointId: string }[]>`
    insert into delivery (
      workspace_id, endpoint_id, id, event_id, event_type, next_attempt_at, created_at, claimed_by, lease_until
    )
    select workspace_id, endpoint_id, id, event_id, event_type, ${dueAt}, uuid_extract_timestamp(id), claimed_by,
      case when claimed_by is not null then clock_timestamp() + make_interval(secs => ${LEASE_S}) end
    from (
      select uuidv7() as id, * from json_to_recordset(${JSON.stringify(planned.map(deliveryRow))}::text::json)
        as delivery (workspace_id uuid, endpoint_id uuid, event_id uuid, event_type text, claimed_by integer)
    ) as planned
    on conflict (event_id, endpoint_id) do nothing
    returning id, event_id as "eventId", endpoint_id as "endpointId"`
  return new Map(rows.map(({ id, eventId, endpointId }) => [keyOf(eventId, endpointId), id]))
}

const keyOf = (eventId: string, endpointId: string): string => `${eventId}/${endpointId}`

const deliveryRow = ({ event, target, claimedBy }: PlannedDelivery) => ({
  workspace_id: event.workspaceId,
  endpoint_id: target.id,
  event_id: event.id,
  event_type: event.type,
  claimed_by: claimedBy,
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
