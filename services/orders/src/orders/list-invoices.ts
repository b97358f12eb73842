import { Invoice } from '@backoffice/contracts/order.ts'
import { INVOICE_COLUMNS, type InvoiceRecord, invoiceBody } from './invoice.ts'
import { listOfOrder } from './list-of-order.ts'

/** GET /v1/orders/{id}/invoices: the one invoice, if there is one (OP-45). */
export const listInvoices = listOfOrder<InvoiceRecord>({
  operationId: 'listOrderInvoices',
  path: '/v1/orders/{id}/invoices',
  summary: 'List the invoices of an order',
  openPoints: ['OP-03', 'OP-43', 'OP-45'],
  item: Invoice,
  table: 'invoice',
  columns: INVOICE_COLUMNS,
  bodyOf: invoiceBody,
})
