import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { named } from '@backoffice/contracts/named.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { z } from 'zod'

/** Waiting for an attempt, acknowledged by a 2xx, or out of attempts (OP-66). */
export const DELIVERY_STATUSES = ['PENDING', 'DELIVERED', 'FAILED'] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

export const DELIVERY_EXAMPLE = {
  id: '0198c7a0-0000-7000-8000-000000000051',
  event_id: '0198c7a0-0000-7000-8000-000000000052',
  event_type: 'order.paid',
  status: 'DELIVERED' as const,
  attempts_made: 1,
  next_attempt_at: null,
  created_at: '2026-03-01T12:05:00.000Z',
  delivered_at: '2026-03-01T12:05:01.000Z',
}

/** A delivery's body (OP-60). `next_attempt_at` is null once it is settled. */
export const Delivery = named(
  'Delivery',
  z.strictObject({
    id: Id,
    event_id: Id,
    event_type: z.string(),
    status: z.enum(DELIVERY_STATUSES),
    attempts_made: z.int(),
    next_attempt_at: Timestamp.nullable(),
    created_at: Timestamp,
    delivered_at: Timestamp.nullable(),
  }),
  DELIVERY_EXAMPLE,
)

/** The members of a delivery's body in their order, as columns from `delivery`. */
export const deliveryColumns = (sql: AnySql) => sql`
  delivery.id, delivery.event_id, coalesce(delivery.event_type, (
    select type from event where event.workspace_id = delivery.workspace_id and event.id = delivery.event_id
  )) as event_type, delivery.status, delivery.attempts_made, delivery.next_attempt_at, delivery.created_at,
  delivery.delivered_at`
