import { Invoice } from '@backoffice/contracts/order.ts'
import { INVOICE_COLUMNS, type InvoiceRecord, invoiceBody } from './invoice.ts'
import { getDocument, listDocuments } from './numbered-documents.ts'

const INVOICES = {
  noun: 'invoice',
  table: 'invoice',
  counter: 'invoice_counter',
  columns: INVOICE_COLUMNS,
  document: Invoice,
  bodyOf: (invoice: InvoiceRecord) => invoiceBody(invoice),
}

/** GET /v1/invoices (extension of OP-43). */
export const listWorkspaceInvoices = listDocuments(INVOICES, {
  operationId: 'listInvoices',
  path: '/v1/invoices',
  summary: 'List the invoices of the workspace',
  openPoints: ['OP-03', 'OP-45', 'OP-205'],
})

/** GET /v1/invoices/{id} (extension of OP-43). */
export const getInvoice = getDocument(INVOICES, {
  operationId: 'getInvoice',
  path: '/v1/invoices/{id}',
  summary: 'Read an invoice',
  openPoints: ['OP-45', 'OP-205'],
})
