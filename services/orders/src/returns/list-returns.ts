import { RETURN, Return } from '@backoffice/contracts/order.ts'
import { listOfOrder } from '../orders/list-of-order.ts'
import type { ReturnRecord } from './create-return.ts'

/** GET /v1/orders/{id}/returns. */
export const listReturns = listOfOrder<ReturnRecord>({
  operationId: 'listOrderReturns',
  path: '/v1/orders/{id}/returns',
  summary: 'List the returns of an order',
  openPoints: ['OP-03', 'OP-144', 'OP-210'],
  item: Return,
  table: 'goods_return',
  columns: RETURN.sql.selected,
  bodyOf: RETURN.answerOf,
})
