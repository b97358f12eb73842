import type { Sql } from '@backoffice/postgres/database.ts'
import type { DeliveryStatus } from '../history/delivery.ts'
import type { Claim } from '../scheduling/job.ts'

/** How long a claim holds at most, in seconds: longer than the 20 s of an attempt (spec: Retries 1). */
export const LEASE_S = 60

/** An endpoint with unclaimed first attempts, or repeats (`isRepeat`), and when the first of these is due. */
export interface ReadyEndpoint {
  endpointId: string
  isRepeat: boolean
  dueAt: Date
  /** It is disabled, or its workspace suspended or deleted. */
  isPaused: boolean
}

const isPaused = (sql: Sql) => sql`(
  exists (select from suspended_workspace where workspace_id = ready.workspace_id and resumed_at is null)
  or exists (select from deleted_workspace where workspace_id = ready.workspace_id)
  or exists (
    select from endpoint_health
    where workspace_id = ready.workspace_id and endpoint_id = ready.endpoint_id and state = 'DISABLED'
  )
) as "isPaused"`

/** The endpoints with unclaimed deliveries that are due after `from` and up to `to`. */
export const dueBetween = (sql: Sql, from: Date, to: Date) => sql<ReadyEndpoint[]>`
  select endpoint_id as "endpointId", is_later as "isRepeat", due_at as "dueAt", ${isPaused(sql)}
  from (
    select workspace_id, endpoint_id, attempts_made > 0 as is_later, min(due_at) as due_at from delivery
    where due_at > ${from} and due_at <= ${to} and claimed_by is null
    group by workspace_id, endpoint_id, is_later
  ) ready`

/** The endpoints with unclaimed deliveries in workspaces whose suspension ended lately, however long due. */
export const readyOnceResumed = (sql: Sql, withinS: number) => sql<ReadyEndpoint[]>`
  select endpoint_id as "endpointId", is_later as "isRepeat", due_at as "dueAt", ${isPaused(sql)}
  from (
    select suspended_workspace.workspace_id, endpoint.id as endpoint_id, is_later, first.due_at
    from suspended_workspace join endpoint on endpoint.workspace_id = suspended_workspace.workspace_id
    cross join (values (false), (true)) as queue (is_later) cross join lateral (
      select due_at from delivery
      where endpoint_id = endpoint.id and (attempts_made > 0) = queue.is_later and due_at is not null and claimed_by is null
      order by due_at limit 1
    ) first
    where resumed_at > clock_timestamp() - make_interval(secs => ${withinS})
  ) ready`

/**
 * The next endpoints that have unclaimed deliveries, in the order of their ids: an index probe for each queue, however
 * many deliveries wait in it.
 */
export const readyAfter = (sql: Sql, { endpointId, isRepeat }: QueuePosition, limit: number) => sql<ReadyEndpoint[]>`
  with recursive ready as (
    (
      select workspace_id, endpoint_id, attempts_made > 0 as is_later, due_at from delivery
      where due_at is not null and claimed_by is null and (endpoint_id, (attempts_made > 0)) > (${endpointId}::uuid, ${isRepeat}::boolean)
      order by endpoint_id, (attempts_made > 0), due_at limit 1
    )
    union all
    select following.workspace_id, following.endpoint_id, following.is_later, following.due_at
    from ready cross join lateral (
      select workspace_id, endpoint_id, attempts_made > 0 as is_later, due_at from delivery
      where due_at is not null and claimed_by is null
        and (endpoint_id, (attempts_made > 0)) > (ready.endpoint_id, ready.is_later)
      order by endpoint_id, (attempts_made > 0), due_at limit 1
    ) following
  )
  select endpoint_id as "endpointId", is_later as "isRepeat", due_at as "dueAt", ${isPaused(sql)}
  from (select * from ready limit ${limit}) ready`

/** A queue of an endpoint in the table: its first attempts, or its repeats. */
export type QueuePosition = Pick<ReadyEndpoint, 'endpointId' | 'isRepeat'>

/** The position before all queues. */
export const FIRST_QUEUE: QueuePosition = { endpointId: '00000000-0000-0000-0000-000000000000', isRepeat: false }

/** How many deliveries to claim for an endpoint, at most: first attempts, and repeats (retries and resends). */
export interface Wanted {
  readonly endpointId: string
  readonly firstAttempts: number
  readonly repeats: number
}

export interface ClaimedDelivery {
  workspaceId: string
  endpointId: string
  id: string
  eventId: string
  eventType: string
  key: string
  body: string
  occurredAt: Date
  traceparent: string | null
  attemptsMade: number
  resendsMade: number
  status: DeliveryStatus
  nextAttemptAt: Date | null
  resendAt: Date | null
  dueAt: Date
  deliveredAt: Date | null
}

export interface Claiming {
  readonly claimer: number
  readonly now: Date
  /** The claim ends with the delivery whose body reaches this sum of bytes. */
  readonly maxBytes: number
}

/**
 * Claims due deliveries, each endpoint's oldest first, up to the wanted numbers. Skips deliveries that another claimer
 * is taking, and reads none of other endpoints.
 */
export async function claimDue(sql: Sql, wanted: readonly Wanted[], { claimer, now, maxBytes }: Claiming) {
  const rows = await sql<ClaimedDelivery[]>`
    with wanted as (
      select * from unnest(
        ${wanted.map(({ endpointId }) => endpointId)}::uuid[], ${wanted.map(({ firstAttempts }) => firstAttempts)}::integer[],
        ${wanted.map(({ repeats }) => repeats)}::integer[]
      ) as wanted (endpoint_id, firsts, laters)
    ),
    due as (
      select claimable.* from wanted cross join lateral (
        values (false, wanted.firsts), (true, wanted.laters)
      ) as queue (is_later, places) cross join lateral (
        select workspace_id, endpoint_id, id, event_id, due_at from delivery
        where endpoint_id = wanted.endpoint_id and (attempts_made > 0) = queue.is_later and due_at <= ${now} and claimed_by is null
        order by due_at, id limit queue.places for update skip locked
      ) claimable
    ),
    sized as (
      select due.workspace_id, due.endpoint_id, due.id, due.event_id, event.type, event.key, event.body, event.occurred_at,
        event.traceparent,
        sum(octet_length(event.body)) over (order by due.due_at, due.id) - octet_length(event.body) as bytes_before
      from due cross join lateral (
        select type, key, body, occurred_at, traceparent from event
        where workspace_id = due.workspace_id and id = due.event_id limit 1 -- looked for in its day's partition only
      ) event
    )
    update delivery set claimed_by = ${claimer}, lease_until = clock_timestamp() + make_interval(secs => ${LEASE_S})
    from sized
    where delivery.workspace_id = sized.workspace_id and delivery.endpoint_id = sized.endpoint_id
      and delivery.id = sized.id and delivery.event_id = sized.event_id and sized.bytes_before < ${maxBytes}
    returning delivery.workspace_id as "workspaceId", delivery.endpoint_id as "endpointId", delivery.id,
      delivery.event_id as "eventId", sized.type as "eventType", sized.key, sized.body, sized.occurred_at as "occurredAt",
      sized.traceparent,
      delivery.attempts_made as "attemptsMade", delivery.resends_made as "resendsMade", delivery.status,
      delivery.next_attempt_at as "nextAttemptAt", delivery.resend_at as "resendAt", delivery.due_at as "dueAt",
      delivery.delivered_at as "deliveredAt"`
  return rows.sort((a, b) => a.dueAt.getTime() - b.dueAt.getTime() || (a.id < b.id ? -1 : 1))
}

/** Gives claims back: the deliveries are due as they were before. */
export async function releaseClaims(sql: Sql, jobs: readonly Claim[]): Promise<void> {
  await sql`
    update delivery set claimed_by = null, lease_until = null
    from unnest(
      ${jobs.map(({ target }) => target.workspaceId)}::uuid[], ${jobs.map(({ target }) => target.id)}::uuid[],
      ${jobs.map(({ deliveryId }) => deliveryId)}::uuid[], ${jobs.map(({ eventId }) => eventId)}::uuid[],
      ${jobs.map(({ claimedBy }) => claimedBy)}::integer[]
    ) as job (workspace_id, endpoint_id, delivery_id, event_id, claimed_by)
    where delivery.workspace_id = job.workspace_id and delivery.endpoint_id = job.endpoint_id
      and delivery.id = job.delivery_id and delivery.event_id = job.event_id and delivery.claimed_by = job.claimed_by`
}

/**
 * Leaves claims to other processes: their leases end now, and the process that frees them knows of the deliveries at
 * once. Claims that are given back would be noticed later.
 */
export async function leaveClaims(sql: Sql, jobs: readonly Claim[]): Promise<void> {
  await sql`
    update delivery set lease_until = clock_timestamp()
    from unnest(
      ${jobs.map(({ target }) => target.workspaceId)}::uuid[], ${jobs.map(({ target }) => target.id)}::uuid[],
      ${jobs.map(({ deliveryId }) => deliveryId)}::uuid[], ${jobs.map(({ eventId }) => eventId)}::uuid[],
      ${jobs.map(({ claimedBy }) => claimedBy)}::integer[]
    ) as job (workspace_id, endpoint_id, delivery_id, event_id, claimed_by)
    where delivery.workspace_id = job.workspace_id and delivery.endpoint_id = job.endpoint_id
      and delivery.id = job.delivery_id and delivery.event_id = job.event_id and delivery.claimed_by = job.claimed_by`
}

/** Ends deliveries of a claimer without another attempt: their endpoint is deleted (OP-97). */
export async function endClaims(sql: Sql, claimer: number, deliveryIds: readonly string[]): Promise<void> {
  await sql`
    update delivery set
      status = case when status = 'PENDING' then 'FAILED' else status end,
      next_attempt_at = null, resend_at = null, claimed_by = null, lease_until = null
    where claimed_by = ${claimer} and id = any(${[...deliveryIds]}::uuid[])`
}

/** The claims of a claimer that are older than `ageS` seconds. */
export const claimsOlderThan = (sql: Sql, claimer: number, ageS: number) => sql<OwnClaim[]>`
  select workspace_id as "workspaceId", endpoint_id as "endpointId", id, event_id as "eventId", attempts_made as "attemptsMade"
  from delivery where claimed_by = ${claimer} and lease_until < clock_timestamp() + make_interval(secs => ${LEASE_S - ageS})`

/** A claim as the table has it. */
export type OwnClaim = Pick<ClaimedDelivery, 'workspaceId' | 'endpointId' | 'id' | 'eventId' | 'attemptsMade'>

/** The deliveries a claimer has. */
export async function claimsOf(sql: Sql, claimer: number): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`select id from delivery where claimed_by = ${claimer}`
  return new Set(rows.map(({ id }) => id))
}
