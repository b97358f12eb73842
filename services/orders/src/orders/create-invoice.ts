import { conflict } from '@backoffice/contracts/errors.ts'
import { Invoice } from '@backoffice/contracts/order.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created, ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { invoiceBody, issueInvoice } from './invoice.ts'
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
      const issued = await issueInvoice(tx, order, now)
      if (issued === undefined)
        throw conflict(['status'], 'an order that is CANCELLED gets no invoice; create another order')
      const body = invoiceBody(issued.invoice)
      return issued.isNew ? created(body) : ok(body)
    }),
})
