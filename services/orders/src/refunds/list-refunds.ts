import { REFUND, Refund } from '@backoffice/contracts/refund.ts'
import { listOfOrder } from '../orders/list-of-order.ts'
import type { RefundRecord } from './record-refund.ts'

/** GET /v1/orders/{id}/refunds (extension). */
export const listRefunds = listOfOrder<RefundRecord>({
  operationId: 'listOrderRefunds',
  path: '/v1/orders/{id}/refunds',
  summary: 'List the refunds of an order',
  openPoints: ['OP-03', 'OP-144', 'OP-201'],
  item: Refund,
  table: 'refund',
  columns: REFUND.sql.selected,
  bodyOf: REFUND.answerOf,
})
