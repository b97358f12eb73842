import { FULFILLMENT, Fulfillment } from '@backoffice/contracts/order.ts'
import { listOfOrder } from '../orders/list-of-order.ts'
import type { FulfillmentRecord } from './create-fulfillment.ts'

/** GET /v1/orders/{id}/fulfillments. */
export const listFulfillments = listOfOrder<FulfillmentRecord>({
  operationId: 'listOrderFulfillments',
  path: '/v1/orders/{id}/fulfillments',
  summary: 'List the fulfilments of an order',
  openPoints: ['OP-03', 'OP-43', 'OP-144'],
  item: Fulfillment,
  table: 'fulfillment',
  columns: FULFILLMENT.sql.selected,
  bodyOf: FULFILLMENT.answerOf,
})
