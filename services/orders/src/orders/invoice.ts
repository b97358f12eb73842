import { TOPICS } from '@backoffice/contracts/events.ts'
import type { RecordOf } from '@backoffice/contracts/members.ts'
import { INVOICE, type Invoice } from '@backoffice/contracts/order.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { type OutboxRecord, outboxRecord } from '@backoffice/postgres/outbox.ts'
import { v7 as uuidv7 } from 'uuid'
import type { OrderRecord } from './order.ts'

/** An invoice as the database has it. */
export interface InvoiceRecord extends RecordOf<typeof INVOICE> {
  readonly number: number
}

/** The invoice body (OP-43). */
export const invoiceBody = (invoice: InvoiceRecord): Invoice =>
  INVOICE.answerOf(invoice, { number: String(invoice.number) })

/** The event of a paid invoice (spec: Event names and data). Its key is the order's, so that it follows order.paid. */
export function invoicePaid(invoice: InvoiceRecord): OutboxRecord {
  const { id, number, order, currency, total } = invoiceBody(invoice)
  return outboxRecord(TOPICS.ordersEvents, 'invoice.paid', order, { id, number, order, currency, total })
}

/** The columns of an InvoiceRecord. */
export const INVOICE_COLUMNS = `number, ${INVOICE.sql.selected}`

/** Whether an order has its invoice. */
export async function hasInvoice(tx: Transaction, order: string): Promise<boolean> {
  const found = await tx`select from invoice where workspace_id = ${tx.context.workspaceId} and order_id = ${order}`
  return found.length > 0
}

/**
 * Issues the invoice of an order, unless it has one (OP-45); the invoice of an order that is PAID becomes PAID. The
 * caller has locked the order. Call it after each statement that can wait for others: it locks the workspace's counter
 * until the transaction ends.
 */
export async function issueInvoice(
  tx: Transaction,
  order: OrderRecord,
  now: Date,
): Promise<{ invoice: InvoiceRecord; isNew: boolean }> {
  const workspace = tx.context.workspaceId
  const isPaid = order.paymentStatus === 'PAID'
  const columns = tx.unsafe(INVOICE_COLUMNS)
  const [{ isNew, ...invoice }] = await tx<[InvoiceRecord & { isNew: boolean }]>`
    with present as materialized (
      select * from invoice where workspace_id = ${workspace} and order_id = ${order.id}
    ), next as (
      insert into invoice_counter as counter (workspace_id, last)
      select ${workspace}, 1 where not exists (select from present)
      on conflict (workspace_id) do update set last = counter.last + 1
      returning last
    ), issued as (
      insert into invoice (workspace_id, order_id, id, number, currency, total, status, created_at)
      select
        ${workspace}, ${order.id}, ${uuidv7()}, last, ${order.currency}, ${order.totalPrice}, ${isPaid ? 'PAID' : 'ISSUED'},
        ${now}
      from next
      returning *
    ), settled as (
      update invoice set status = 'PAID'
      where workspace_id = ${workspace} and order_id = ${order.id} and status = 'ISSUED' and ${isPaid}
      returning *
    )
    select ${columns}, true as "isNew" from issued
    union all
    select ${columns}, false from settled
    union all
    select ${columns}, false from present where not exists (select from settled)`
  return { invoice, isNew }
}
