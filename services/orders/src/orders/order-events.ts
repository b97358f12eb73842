import { type RecordType, TOPICS } from '@backoffice/contracts/events.ts'
import { type OutboxRecord, outboxRecord } from '@backoffice/postgres/outbox.ts'
import { type OrderRecord, orderBody } from './order.ts'
import { type InvoiceRecord, invoiceBody } from './order-invoice.ts'

/** An event about an order, with its body as it is now (OP-67). */
export const orderEvent = (
  type: Extract<RecordType<'orders.events'>, `order.${string}`>,
  order: OrderRecord,
): OutboxRecord => outboxRecord(TOPICS.ordersEvents, type, order.id, orderBody(order))

/** The event of a paid invoice (spec: Event names and data). Its key is the order's, so that it follows order.paid. */
export function invoicePaid(invoice: InvoiceRecord): OutboxRecord {
  const { id, number, order, currency, total } = invoiceBody(invoice)
  return outboxRecord(TOPICS.ordersEvents, 'invoice.paid', order, { id, number, order, currency, total })
}
