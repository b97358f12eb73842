import type { AnySql } from '@backoffice/postgres/database.ts'
import { redactedNotification } from '../shards/notify-due.ts'
import { PERSONAL_EVENT_TYPES, redactBody } from './redact-body.ts'

/** Events read by one batch, and how many of these may have to change: a batch ends with whichever comes first. */
export const EVENTS_A_BATCH = 500
export const CHANGES_A_BATCH = 50
/** Bytes of bodies after which a batch reads no further event: each customer is looked for in all of them. */
const BYTES_READ = 16 * 1024 * 1024
/** Bytes of bodies that a batch takes into memory, at most, but for its first. */
const BYTES_A_BATCH = 4 * 1024 * 1024

/** A pass through the events of a workspace, as far as it has come. */
export interface ErasurePass {
  workspaceId: string
  customerIds: string[]
  startedAt: Date
  afterId: string
}

interface EventRow {
  id: string
  type: string
  /** Null unless the event may be about one of the customers, or an order of theirs, and is not erased yet. */
  body: string | null
  /** The order that it is about, if that was erased since. */
  erasedOrder: string | null
  isErased: boolean
}

/**
 * Removes the personal data of a pass's customers from the workspace's next events, by id, and from their attempts
 * (OP-139). Returns the id of the last one and how many bodies were changed; undefined when there are no events. Only a
 * repeated fan-out of these events waits for its locks.
 */
export async function erasePersonalData(tx: AnySql, pass: ErasurePass, now: Date) {
  // Otherwise PostgreSQL may read and sort all events of a workspace that it takes for a small one, for each batch.
  await tx`select set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true)`
  const events = await nextEvents(tx, pass)
  const last = events.at(-1)
  if (last === undefined) return undefined
  const redacted = events.flatMap(({ id, type, body, erasedOrder }) => {
    const without = body === null ? undefined : redactBody(type, body, new Set([...pass.customerIds, erasedOrder]))
    return without === undefined ? [] : [{ id, body: without }]
  })
  if (redacted.length > 0) await updateBodies(tx, pass.workspaceId, redacted, now)
  // Also events of earlier passes: an attempt that was in flight then is recorded by now.
  const erased = [...redacted, ...events.filter(({ isErased }) => isErased)].map(({ id }) => id)
  if (erased.length > 0) await removeResponses(tx, pass.workspaceId, erased, now)
  return { lastId: last.id, redacted: redacted.length }
}

/** Bodies are searched as text: PostgreSQL's JSON refuses \u0000 and lone surrogates, which would hold up the pass. */
const nextEvents = (tx: AnySql, { workspaceId, customerIds, afterId }: ErasurePass) => tx<EventRow[]>`
  with read as materialized (
    -- As a text that is unpacked once, and not again for each customer.
    select id, type, erased_at is not null as is_erased,
      case when type = any(${[...PERSONAL_EVENT_TYPES]}::text[]) then body || '' end as body, (
      select order_id from erased_order
      where erased_order.workspace_id = ${workspaceId} and last_change >= occurred_at
        and order_id = case when pg_input_is_valid(key, 'uuid') then key::uuid end limit 1
    ) as erased_order
    from (
      select *, sum(octet_length(body)) over (order by id rows unbounded preceding) - octet_length(body) as read_before
      from (
        select * from event where workspace_id = ${workspaceId} and id > ${afterId} order by id limit ${EVENTS_A_BATCH}
      ) as next
    ) as next
    where read_before < ${BYTES_READ}
  ),
  searched as materialized (
    select *, case when body is not null then
      is_erased or erased_order is not null or exists (
        select from unnest(${customerIds}::text[]) as customer (id) where strpos(body, customer.id) > 0
      )
    else false end as is_found
    from read
  ),
  counted as (
    select *, count(*) filter (where is_found) over before as found_before,
      coalesce(sum(octet_length(body)) filter (where is_found) over before, 0) as bytes_before
    from searched window before as (order by id rows between unbounded preceding and 1 preceding)
  )
  select id, type, is_erased as "isErased", erased_order as "erasedOrder",
    case when is_found and not is_erased then body end as body
  from counted where found_before < ${CHANGES_A_BATCH} and bytes_before < ${BYTES_A_BATCH} order by id`

/** Tells the owners of endpoints, too: what waits in memory is read again. */
const updateBodies = (
  tx: AnySql,
  workspaceId: string,
  events: readonly { id: string; body: string }[],
  now: Date,
) => tx`
  with updated as (
    update event set body = redacted.body, erased_at = ${now}
    from unnest(${events.map(({ id }) => id)}::uuid[], ${events.map(({ body }) => body)}::text[]) as redacted (id, body)
    where event.workspace_id = ${workspaceId} and event.id = redacted.id
  )
  ${redactedNotification(tx, { workspaceId, eventIds: events.map(({ id }) => id) })}`

/** Removes what receivers answered to these events, since it may repeat what was sent. */
const removeResponses = (tx: AnySql, workspaceId: string, eventIds: string[], now: Date) => tx`
  update attempt set response_headers = null, response_body = null, response_truncated = null, erased_at = ${now}
  from unnest(${eventIds}::uuid[]) as erased (event_id) cross join lateral (
    select id from delivery where workspace_id = ${workspaceId} and event_id = erased.event_id
  ) made
  where attempt.workspace_id = ${workspaceId} and attempt.delivery_id = made.id and attempt.erased_at is null`
