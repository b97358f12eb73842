import { CANCELLATION, Cancellation } from '@backoffice/contracts/order.ts'
import { listOfOrder } from '../orders/list-of-order.ts'
import type { CancellationRecord } from './create-cancellation.ts'

/** GET /v1/orders/{id}/cancellations. */
export const listCancellations = listOfOrder<CancellationRecord>({
  operationId: 'listOrderCancellations',
  path: '/v1/orders/{id}/cancellations',
  summary: 'List the cancellations of open quantities of an order',
  openPoints: ['OP-03', 'OP-144', 'OP-209'],
  item: Cancellation,
  table: 'cancellation',
  columns: CANCELLATION.sql.selected,
  bodyOf: CANCELLATION.answerOf,
})
