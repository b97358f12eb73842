import { FULFILLMENT, Fulfillment } from '@backoffice/contracts/order.ts'
import { ListQuery, Page } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { pageOfOrder } from '../orders/page-of-order.ts'
import type { FulfillmentRecord } from './create-fulfillment.ts'

/** GET /v1/orders/{id}/fulfillments (extension of OP-43): newest first (OP-144). */
export const listFulfillments = operation({
  operationId: 'listOrderFulfillments',
  method: 'GET',
  path: '/v1/orders/{id}/fulfillments',
  summary: 'List the fulfilments of an order',
  scope: 'sale::read',
  query: ListQuery,
  responses: { 200: Page(Fulfillment) },
  refusals: ['unprocessable'],
  openPoints: ['OP-03', 'OP-43', 'OP-144'],
  extension: true,

  handle: ({ params: { id }, query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const list = { table: tx`fulfillment`, columns: tx`${tx.unsafe(FULFILLMENT.sql.selected)}` }
      const page = await pageOfOrder<FulfillmentRecord>(tx, id, query, list)
      return ok({ ...page, items: page.items.map((fulfillment) => FULFILLMENT.answerOf(fulfillment)) })
    }),
})
