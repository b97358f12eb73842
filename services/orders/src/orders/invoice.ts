import { TOPICS } from '@backoffice/contracts/events.ts'
import type { RecordOf } from '@backoffice/contracts/members.ts'
import { INVOICE, type Invoice } from '@backoffice/contracts/order.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { type OutboxRecord, outboxRecord } from '@backoffice/postgres/outbox.ts'
import { buyerOf } from './buyer.ts'
import { nextNumber } from './numbered-documents.ts'
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

/** Part of a statement about the order of this id: whether its invoice is PAID, as it stays once the order was. */
export const isInvoicePaid = (tx: Transaction, order: SqlPart): SqlPart => tx`exists (
  select from invoice where workspace_id = ${tx.context.workspaceId} and order_id = ${order} and status = 'PAID'
)`

/** The invoice of an order: whether it was issued now, and whether it has become PAID now. */
export interface IssuedInvoice {
  readonly invoice: InvoiceRecord
  readonly isNew: boolean
  readonly becomesPaid: boolean
}

/**
 * Issues the invoice of an order, unless it has one (OP-45); the invoice of an order that is PAID becomes PAID. Returns
 * undefined for an order that is CANCELLED and has none: it gets none (OP-145). The caller has locked the order. Call
 * it after each statement that can wait for others: it locks the workspace's counter until the transaction ends.
 */
export async function issueInvoice(tx: Transaction, order: OrderRecord, now: Date): Promise<IssuedInvoice | undefined> {
  const workspace = tx.context.workspaceId
  const isPaid = order.paymentStatus === 'PAID'
  const columns = tx.unsafe(INVOICE_COLUMNS)
  const isWanted = tx`${order.status !== 'CANCELLED'} and not exists (select from present)`
  const [row] = await tx<(InvoiceRecord & Omit<IssuedInvoice, 'invoice'>)[]>`
    with present as materialized (
      select * from invoice where workspace_id = ${workspace} and order_id = ${order.id}
    ), next as (
      ${nextNumber(tx, 'invoice_counter', isWanted)}
    ), issued as (
      insert into invoice (workspace_id, order_id, id, number, currency, total, status, buyer, created_at, paid_at)
      select
        ${workspace}, ${order.id}, uuidv7(), last, ${order.currency}, ${order.totalPrice}, ${isPaid ? 'PAID' : 'ISSUED'},
        ${JSON.stringify(buyerOf(order))}::text::json, ${now}, ${isPaid ? now : null}
      from next
      returning *
    ), settled as (
      update invoice set status = 'PAID', paid_at = ${now}
      where workspace_id = ${workspace} and order_id = ${order.id} and status = 'ISSUED' and ${isPaid}
      returning *
    )
    select ${columns}, true as "isNew", ${isPaid}::boolean as "becomesPaid" from issued
    union all
    select ${columns}, false, true from settled
    union all
    select ${columns}, false, false from present where not exists (select from settled)`
  if (row === undefined) return undefined
  const { isNew, becomesPaid, ...invoice } = row
  return { invoice, isNew, becomesPaid }
}
