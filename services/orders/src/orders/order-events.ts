import { type RecordType, TOPICS } from '@backoffice/contracts/events.ts'
import { type OutboxRecord, outboxRecord } from '@backoffice/postgres/outbox.ts'
import { type OrderRecord, orderBody } from './order.ts'

/** An event about an order, with its body as it is now (OP-67). */
export const orderEvent = (
  type: Extract<RecordType<'orders.events'>, `order.${string}`>,
  order: OrderRecord,
): OutboxRecord => outboxRecord(TOPICS.ordersEvents, type, order.id, orderBody(order))
