import type { RecordOf } from '@backoffice/contracts/members.ts'
import { CREDIT_NOTE, CreditNote, type REFUND } from '@backoffice/contracts/refund.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { listOfOrder } from '../orders/list-of-order.ts'
import { getDocument, listDocuments, nextNumber } from '../orders/numbered-documents.ts'
import type { OrderRecord } from '../orders/order.ts'

/** A credit note as the database has it. */
interface CreditNoteRecord extends RecordOf<typeof CREDIT_NOTE> {
  readonly number: number
}

const CREDIT_NOTES = {
  noun: 'credit note',
  table: 'credit_note',
  counter: 'credit_note_counter',
  columns: `number, ${CREDIT_NOTE.sql.selected}`,
  document: CreditNote,
  bodyOf: (note: CreditNoteRecord) => CREDIT_NOTE.answerOf(note, { number: String(note.number) }),
}

/**
 * Issues the credit note of a refund, where its order has an invoice and what was given back is not owed again: the
 * invoice is PAID, or the order CANCELLED (OP-203). What is kept beyond the invoice without its credit notes goes back
 * first, without a note. The caller has locked the order, which is as the refund leaves it. Call it last: it locks the
 * workspace's counter of credit notes until the transaction ends.
 */
export const issueCreditNote = (
  tx: Transaction,
  { status, paid, refunded }: Pick<OrderRecord, 'status' | 'paid' | 'refunded'>,
  { order, id, currency, amount }: RecordOf<typeof REFUND>,
  now: Date,
) => tx`
  with invoiced as materialized (
    select id, least(${amount}::bigint, total - credited - ${paid - refunded}::bigint)::bigint as credit
    from invoice, (
      select coalesce(sum(total), 0) as credited from credit_note
      where workspace_id = ${tx.context.workspaceId} and order_id = ${order}
    ) as former
    where workspace_id = ${tx.context.workspaceId} and order_id = ${order}
      and (status = 'PAID' or ${status === 'CANCELLED'})
  ), next as (
    ${nextNumber(tx, CREDIT_NOTES.counter, tx`exists (select from invoiced where credit > 0)`)}
  )
  insert into credit_note (workspace_id, id, number, order_id, invoice_id, refund_id, currency, total, created_at)
  select ${tx.context.workspaceId}, uuidv7(), last, ${order}, invoiced.id, ${id}, ${currency}, credit, ${now}
  from next, invoiced`

/** GET /v1/credit-notes (extension). */
export const listCreditNotes = listDocuments(CREDIT_NOTES, {
  operationId: 'listCreditNotes',
  path: '/v1/credit-notes',
  summary: 'List the credit notes of the workspace',
  openPoints: ['OP-03', 'OP-203', 'OP-205'],
})

/** GET /v1/credit-notes/{id} (extension). */
export const getCreditNote = getDocument(CREDIT_NOTES, {
  operationId: 'getCreditNote',
  path: '/v1/credit-notes/{id}',
  summary: 'Read a credit note',
  openPoints: ['OP-203', 'OP-205'],
})

/** GET /v1/orders/{id}/credit-notes (extension). */
export const listOrderCreditNotes = listOfOrder<CreditNoteRecord>({
  operationId: 'listOrderCreditNotes',
  path: '/v1/orders/{id}/credit-notes',
  summary: 'List the credit notes of an order',
  openPoints: ['OP-03', 'OP-203', 'OP-205'],
  item: CreditNote,
  ...CREDIT_NOTES,
})
