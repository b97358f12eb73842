import { Invoice } from '@backoffice/contracts/order.ts'
import { ListQuery, Page } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { type InvoiceRecord, invoiceBody, invoiceColumns } from './invoice.ts'
import { pageOfOrder } from './page-of-order.ts'

/** GET /v1/orders/{id}/invoices (extension of OP-43): the one invoice, if there is one (OP-45). */
export const listInvoices = operation({
  operationId: 'listOrderInvoices',
  method: 'GET',
  path: '/v1/orders/{id}/invoices',
  summary: 'List the invoices of an order',
  scope: 'sale::read',
  query: ListQuery,
  responses: { 200: Page(Invoice) },
  refusals: ['unprocessable'],
  openPoints: ['OP-03', 'OP-43', 'OP-45'],
  extension: true,

  handle: ({ params: { id }, query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const list = { table: tx`invoice`, columns: invoiceColumns(tx) }
      const page = await pageOfOrder<InvoiceRecord>(tx, id, query, list)
      return ok({ ...page, items: page.items.map(invoiceBody) })
    }),
})
