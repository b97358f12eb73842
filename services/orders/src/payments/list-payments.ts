import { PAYMENT, Payment } from '@backoffice/contracts/order.ts'
import { listOfOrder } from '../orders/list-of-order.ts'
import type { PaymentRecord } from './record-payment.ts'

/** GET /v1/orders/{id}/payments. */
export const listPayments = listOfOrder<PaymentRecord>({
  operationId: 'listOrderPayments',
  path: '/v1/orders/{id}/payments',
  summary: 'List the payments of an order',
  openPoints: ['OP-03', 'OP-43', 'OP-144'],
  item: Payment,
  table: 'payment',
  columns: PAYMENT.sql.selected,
  bodyOf: PAYMENT.answerOf,
})
