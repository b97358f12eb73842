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

/** What of a delivery's row its body is made of. */
export interface DeliveryRow {
  id: string
  event_id: string
  event_type: string
  status: DeliveryStatus
  attempts_made: number
  next_attempt_at: Date | null
  created_at: Date
  delivered_at: Date | null
}

/** The columns of a `DeliveryRow`, from `delivery`. */
export const deliveryColumns = (sql: AnySql) => sql`
  delivery.id, delivery.event_id, delivery.status, delivery.attempts_made, delivery.next_attempt_at, delivery.created_at,
  delivery.delivered_at, coalesce(delivery.event_type, (
    select type from event where event.workspace_id = delivery.workspace_id and event.id = delivery.event_id
  )) as event_type`

export const deliveryView = (row: DeliveryRow): z.output<typeof Delivery> => ({
  id: row.id,
  event_id: row.event_id,
  event_type: row.event_type,
  status: row.status,
  attempts_made: row.attempts_made,
  next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
  delivered_at: row.delivered_at?.toISOString() ?? null,
})
