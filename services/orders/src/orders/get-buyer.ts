import { notFound } from '@backoffice/contracts/errors.ts'
import { Buyer } from '@backoffice/contracts/order.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { readSizedValue } from '@backoffice/postgres/lists/sized-rows.ts'
import { presentBuyer } from './buyer.ts'
import { noSuchOrder } from './order.ts'

/** GET /v1/orders/{id}/buyer (extension of OP-217): the buyer on the invoice, also once the customer is erased. */
export const getBuyer = operation({
  operationId: 'getOrderBuyer',
  method: 'GET',
  path: '/v1/orders/{id}/buyer',
  summary: "Read the buyer that an order's invoice names",
  scope: 'customer::read',
  responses: { 200: Buyer },
  openPoints: ['OP-45', 'OP-130', 'OP-217'],
  extension: true,

  handle: ({ params: { id }, inWorkspace }) => inWorkspace(async (tx) => ok(await readBuyer(tx, id))),
})

/** Throws `not_found`. The customer may be another one than on an older invoice that has no buyer of its own. */
async function readBuyer(tx: Transaction, id: string): Promise<Buyer> {
  const workspace = tx.context.workspaceId
  const found = await readSizedValue<{ invoice: string | null; buyer: Omit<Buyer, 'order' | 'invoice'> }>(tx, {
    value: tx`json_build_object('invoice', invoice.id, 'buyer', shown.buyer)`,
    bytes: tx`octet_length(shown.buyer::text)`,
    source: tx`
      from sales_order
      left join invoice on invoice.workspace_id = ${workspace} and invoice.order_id = sales_order.id
      left join customer on customer.workspace_id = ${workspace} and customer.id = sales_order.customer_id
      cross join lateral (select coalesce(invoice.buyer, ${presentBuyer(tx)}) as buyer) as shown
      where sales_order.workspace_id = ${workspace} and sales_order.id = ${id}`,
  })
  if (found === undefined) throw noSuchOrder(id)
  if (found.invoice === null)
    throw notFound(['id'], 'the order has no invoice, which would name its buyer; issue it before')
  return { order: id, invoice: found.invoice, ...found.buyer }
}
