import { conflict } from '@backoffice/contracts/errors.ts'
import { Invoice } from '@backoffice/contracts/order.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created, ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { INVOICE_COLUMNS, type InvoiceRecord, invoiceBody, issueInvoice } from './invoice.ts'
import { lockOrder } from './order.ts'

/**
 * POST /v1/orders/{id}/invoices (extension of OP-43): issues the invoice of an order, or answers the one there is
 * (OP-45). Throws `conflict` for an order that was cancelled without an invoice (OP-145).
 */
export const createInvoice = operation({
  operationId: 'createOrderInvoice',
  method: 'POST',
  path: '/v1/orders/{id}/invoices',
  summary: 'Issue the invoice of an order',
  scope: 'sale::create',
  body: z.strictObject({}).optional(),
  responses: { 200: Invoice, 201: Invoice },
  openPoints: ['OP-08', 'OP-43', 'OP-45', 'OP-145'],
  extension: true,

  handle: ({ params: { id }, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const order = await lockOrder(tx, id)
      if (order.status === 'CANCELLED') return ok(invoiceBody(await presentInvoice(tx, id)))
      const { invoice, isNew } = await issueInvoice(tx, order, now)
      return isNew ? created(invoiceBody(invoice)) : ok(invoiceBody(invoice))
    }),
})

async function presentInvoice(tx: Transaction, order: string): Promise<InvoiceRecord> {
  const [invoice] = await tx<InvoiceRecord[]>`
    select ${tx.unsafe(INVOICE_COLUMNS)} from invoice
    where workspace_id = ${tx.context.workspaceId} and order_id = ${order}`
  if (invoice === undefined) throw conflict([], 'An order that is CANCELLED gets no invoice')
  return invoice
}
