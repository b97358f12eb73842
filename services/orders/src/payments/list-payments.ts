import { PAYMENT, Payment } from '@backoffice/contracts/order.ts'
import { ListQuery, Page } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { pageOfOrder } from '../orders/page-of-order.ts'
import type { PaymentRecord } from './record-payment.ts'

/** GET /v1/orders/{id}/payments (extension of OP-43): newest first (OP-144). */
export const listPayments = operation({
  operationId: 'listOrderPayments',
  method: 'GET',
  path: '/v1/orders/{id}/payments',
  summary: 'List the payments of an order',
  scope: 'sale::read',
  query: ListQuery,
  responses: { 200: Page(Payment) },
  refusals: ['unprocessable'],
  openPoints: ['OP-03', 'OP-43', 'OP-144'],
  extension: true,

  handle: ({ params: { id }, query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const list = { table: tx`payment`, columns: tx`${tx.unsafe(PAYMENT.sql.selected)}` }
      const page = await pageOfOrder<PaymentRecord>(tx, id, query, list)
      return ok({ ...page, items: page.items.map((payment) => PAYMENT.answerOf(payment)) })
    }),
})
