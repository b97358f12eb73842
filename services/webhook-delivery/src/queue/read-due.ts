import type { Fragment, Sql } from '@backoffice/postgres/database.ts'
import { NIL } from 'uuid'
import type { DeliveryStatus } from '../history/delivery.ts'
import { isOpen } from '../results/given-deliveries.ts'
import type { Job } from '../scheduling/job.ts'

/** What to read of an endpoint, at most: first attempts, and repeats (retries and resends). */
export interface Wanted {
  readonly endpointId: string
  /** Only first attempts after this id; undefined: from the first on. */
  readonly after: string | undefined
  readonly firstAttempts: number
  readonly repeats: number
}

type Shared = 'eventId' | 'eventType' | 'key' | 'occurredAt' | 'traceparent' | 'attemptsMade' | 'resendsMade'

/** A delivery that is due. */
export interface DueDelivery extends Pick<Job, Shared> {
  workspaceId: string
  endpointId: string
  id: string
  /** Null where another delivery of the same event has it. */
  body: string | null
  status: DeliveryStatus
  nextAttemptAt: Date | null
  /** Whether the next attempt of the schedule is due; otherwise a resend is. */
  isScheduled: boolean
  resendAt: Date | null
  deliveredAt: Date | null
  /** A former owner has the attempt in flight, at the longest until then. */
  busyUntil: Date | null
  /** How many were found, those beyond the bytes included. */
  found: number
}

/** Names the event of a delivery. Its id alone does not: events of two workspaces may have the same one. */
export const eventOf = ({ workspaceId, eventId }: Pick<DueDelivery, 'workspaceId' | 'eventId'>): string =>
  `${workspaceId}/${eventId}`

/**
 * Reads due deliveries, each endpoint's oldest first, up to the wanted numbers, until their bodies have so many bytes.
 * First attempts are in the order of their ids, as their due times are.
 */
export async function readDue(sql: Sql, wanted: readonly Wanted[], now: Date, maxBytes: number) {
  const deliveries = await sql<DueDelivery[]>`
    with wanted as (
      select endpoint_id, coalesce(uuid_extract_timestamp(after), '-infinity') as after_due_at, after, firsts, laters
      from unnest(
        ${wanted.map(({ endpointId }) => endpointId)}::uuid[], ${wanted.map(({ after }) => after ?? NIL)}::uuid[],
        ${wanted.map(({ firstAttempts }) => firstAttempts)}::integer[], ${wanted.map(({ repeats }) => repeats)}::integer[]
      ) as wanted (endpoint_id, after, firsts, laters)
    ),
    reading as (
      -- This process's clock may be a little behind: what was committed before is not to be left out.
      select greatest(${now}::timestamptz, clock_timestamp()) as now
    ),
    due as (
      -- By rows, so that no index serves but delivery_due, whatever was in the table when the plan was made.
      -- No row has a claimed_by. Without it in the index, recordAttempts would read queues instead of keys.
      select first.* from wanted cross join lateral (
        select delivery from delivery
        where due_at is not null and claimed_by is null
          and (endpoint_id, (attempts_made > 0), due_at, id) > (wanted.endpoint_id, false, wanted.after_due_at, wanted.after)
          and (endpoint_id, (attempts_made > 0), due_at) <= (wanted.endpoint_id, false, (select now from reading))
        order by endpoint_id, (attempts_made > 0), due_at, id limit wanted.firsts
      ) as first
      union all
      select later.* from wanted cross join lateral (
        select delivery from delivery
        where due_at is not null and claimed_by is null
          and (endpoint_id, (attempts_made > 0), due_at) >= (wanted.endpoint_id, true, '-infinity')
          and (endpoint_id, (attempts_made > 0), due_at) <= (wanted.endpoint_id, true, (select now from reading))
        order by endpoint_id, (attempts_made > 0), due_at, id limit wanted.laters
      ) as later
    ),
    told as (
      -- Each event once, however many of its deliveries are due. They are kept in arrays: a join would compare all rows
      -- of both sides, since these connections have nested loops alone.
      select event.*, due.*, ordinality = 1 as has_body
      from (
        select (delivery).workspace_id, (delivery).event_id,
          array_agg(delivery order by (delivery).due_at, (delivery).id) as deliveries
        from due group by 1, 2
      ) as needed cross join lateral (
        select type, key, body, occurred_at, traceparent from event
        where workspace_id = needed.workspace_id and id = needed.event_id limit 1 -- looked for in its day's partition only
      ) event cross join lateral unnest(deliveries) with ordinality as due
    ),
    sized as (
      select *, count(*) over () as found, coalesce(
          sum(octet_length(body)) filter (where has_body)
            over (order by due_at, id rows between unbounded preceding and 1 preceding), 0
        ) as bytes_before
      from told
    )
    select ${columns(sql, sql`(select now from reading)`)}, case when has_body then body end as body, found
    from sized where bytes_before < ${maxBytes} order by due_at, id`
  return { deliveries, isCut: deliveries.length < (deliveries[0]?.found ?? 0) }
}

/** Reads what former owners have in flight, without the bodies: it is not to be sent here. */
export const readBusy = (sql: Sql) => sql<DueDelivery[]>`
  select ${columns(sql, sql`clock_timestamp()`)}, null as body, count(*) over ()::integer as found
  from (select * from delivery where busy_until > clock_timestamp() and ${isOpen(sql)}) as busy
  cross join lateral (
    select type, key, occurred_at, traceparent from event
    where workspace_id = busy.workspace_id and id = busy.event_id limit 1
  ) event
  order by due_at, id`

const columns = (sql: Sql, now: Fragment) => sql`
  workspace_id as "workspaceId", endpoint_id as "endpointId", id, event_id as "eventId", type as "eventType", key,
  occurred_at as "occurredAt", traceparent, attempts_made as "attemptsMade", resends_made as "resendsMade", status,
  next_attempt_at as "nextAttemptAt", coalesce(next_attempt_at <= ${now}, false) as "isScheduled", resend_at as "resendAt",
  delivered_at as "deliveredAt", busy_until as "busyUntil"`
