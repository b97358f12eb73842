import { TOPICS } from '@backoffice/contracts/events.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { type InvoiceRecord, invoiceBody, issueInvoice } from '../invoices/issue-invoice.ts'
import type { OrderRecord } from './order.ts'
import { orderEvent } from './order-events.ts'
import { updateOrder } from './write-order.ts'

/**
 * Places an order at CART whose stock is reserved, issues its invoice (OP-45), and publishes both. An order with nothing to pay is PAID
 * with it (OP-41). The caller has locked the order.
 */
export async function placeOrder(tx: Transaction, order: OrderRecord, now: Date): Promise<OrderRecord> {
  const becomesPaid = order.totalPrice === 0 && order.paymentStatus !== 'PAID'
  const placed: OrderRecord = {
    ...order,
    status: 'PLACED',
    paymentStatus: becomesPaid ? 'PAID' : order.paymentStatus,
    updatedAt: now,
  }
  await updateOrder(tx, placed)
  const paid = becomesPaid ? [orderEvent('order.paid', placed)] : []
  await publish(tx, [orderEvent('order.updated', placed), ...paid], now)
  const { invoice } = await issueInvoice(tx, placed, now)
  if (becomesPaid) await publish(tx, [invoicePaid(invoice)], now)
  return placed
}

/** The event of a paid invoice (spec: Event names and data). Its key is the order's, so that it follows order.paid. */
export function invoicePaid(invoice: InvoiceRecord) {
  const { id, number, order, currency, total } = invoiceBody(invoice)
  return outboxRecord(TOPICS.ordersEvents, 'invoice.paid', order, { id, number, order, currency, total })
}
