import { namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { isInvoicePaid } from './invoice.ts'
import { noSuchOrder, type OrderRecord } from './order.ts'
import { openSumOf } from './order-states.ts'

const Balance = namedObject(
  'OrderBalance',
  {
    total: z.int(),
    paid: z.int(),
    refunded: z.int(),
    open: z.int(),
    /** A quantity; the others are amounts in minor units. */
    unfulfilled: z.int(),
  },
  { total: 10300, paid: 5000, refunded: 0, open: 5300, unfulfilled: 2 },
)

type BalanceRow = Pick<OrderRecord, 'status' | 'paymentStatus' | 'totalPrice' | 'paid' | 'refunded'> & {
  readonly unfulfilled: number
  readonly isInvoicePaid: boolean
}

/** GET /v1/orders/{id}/balance (extension): what is paid, given back, still to be paid and to be sent (OP-206). */
export const getBalance = operation({
  operationId: 'getOrderBalance',
  method: 'GET',
  path: '/v1/orders/{id}/balance',
  summary: 'Read what is paid and open of an order',
  scope: 'sale::read',
  responses: { 200: Balance },
  openPoints: ['OP-206'],
  extension: true,

  handle: ({ params: { id }, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [order] = await tx<BalanceRow[]>`
        select
          status, payment_status as "paymentStatus", total_price as "totalPrice", paid, refunded,
          case when status = 'CANCELLED' then 0 else (
            select sum(quantity - fulfilled) from order_item
            where order_item.workspace_id = sales_order.workspace_id and order_id = sales_order.id
          )::bigint end as unfulfilled,
          ${isInvoicePaid(tx, tx`sales_order.id`)} as "isInvoicePaid"
        from sales_order where workspace_id = ${tx.context.workspaceId} and id = ${id}`
      if (order === undefined) throw noSuchOrder(id)
      const { totalPrice: total, paid, refunded, unfulfilled } = order
      return ok({ total, paid, refunded, open: openSumOf(order), unfulfilled })
    }),
})
