import { TOPICS } from '@backoffice/contracts/events.ts'
import type { Fulfillment } from '@backoffice/contracts/order.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { type OutboxRecord, outboxRecord } from '@backoffice/postgres/outbox.ts'

/** A fulfilment as the database has it. */
export interface FulfillmentRecord {
  readonly id: string
  readonly order: string
  /** Items of the order, in its order, each once. */
  readonly items: readonly { readonly id: string; readonly quantity: number }[]
  readonly createdAt: Date
}

/** The fulfilment body (OP-43). */
export const fulfillmentBody = ({ id, order, items, createdAt }: FulfillmentRecord): Fulfillment => ({
  id,
  order,
  items: [...items],
  created_at: createdAt.toISOString(),
})

/** The columns of a FulfillmentRecord. */
export const fulfillmentColumns = (sql: AnySql) => sql`id, order_id as order, items, created_at as "createdAt"`

/** The event of a new fulfilment (OP-67). Its key is the order's, so that it stays in order with order.updated. */
export const fulfillmentCreated = (fulfillment: FulfillmentRecord): OutboxRecord =>
  outboxRecord(TOPICS.ordersEvents, 'fulfillment.created', fulfillment.order, fulfillmentBody(fulfillment))
