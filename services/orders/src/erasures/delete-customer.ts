import { conflict } from '@backoffice/contracts/errors.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { z } from 'zod'
import { noSuchCustomer } from '../customers/customer.ts'
import { keepBuyers } from '../orders/buyer.ts'

/** Order numbers that a refusal names. */
const NAMED = 5

const DeleteQuery = z.strictObject({ force: z.enum(['true', 'false']).default('false') })

/**
 * DELETE /v1/customers/{id} (OP-130): the customer is gone at once, his orders stay without him, and his invoices keep
 * their buyer (OP-217). A worker removes his personal data from orders and stored answers (erase-customers.ts), and
 * customer.erased lets other services remove theirs. Throws `conflict` while he waits for what he has paid (OP-216).
 */
export const deleteCustomer = operation({
  operationId: 'deleteCustomer',
  method: 'DELETE',
  path: '/v1/customers/{id}',
  summary: 'Erase a customer, but for the buyer on his invoices',
  scope: 'customer::delete',
  query: DeleteQuery,
  responses: { 204: null },
  refusals: ['conflict'],
  openPoints: ['OP-01', 'OP-130', 'OP-216', 'OP-217', 'OP-218'],
  extension: true,

  handle: ({ params: { id }, query: { force }, context, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      // Waits for orders that are being created with the customer: they hold a lock on the row.
      const locked = await tx`
        select from customer where workspace_id = ${context.workspaceId} and id = ${id} for update`
      if (locked.length === 0) throw noSuchCustomer(id)
      if (force === 'false') await refusePaidOrders(tx, id)
      await keepBuyers(tx, id)
      await tx`delete from customer where workspace_id = ${context.workspaceId} and id = ${id}`
      await tx`
        insert into customer_erasure (workspace_id, id, stage, created_at)
        values (${context.workspaceId}, ${id}, 'ORDERS', ${now})`
      await publish(tx, [outboxRecord(TOPICS.ordersErasures, 'customer.erased', id, { id })], now)
      return new Reply(204)
    }),
})

/**
 * Refuses with `conflict` while an order at CART or PLACED has a payment and something to send (OP-216). An order that
 * he had, and that has no customer now, would lose its address as well. Waits for payments of these orders that are
 * being recorded: they hold a lock on their order. Requests lock a customer before an order, too.
 */
async function refusePaidOrders(tx: Transaction, customer: string): Promise<void> {
  const paid = await tx<{ number: string; count: number }[]>`
    with unsent as materialized (
      select id, order_number as number, payment_status from sales_order
      where workspace_id = ${tx.context.workspaceId} and id in (
          select id from sales_order where workspace_id = ${tx.context.workspaceId} and customer_id = ${customer}
          union all
          select order_id from former_customer
          where workspace_id = ${tx.context.workspaceId} and customer_id = ${customer}
        ) and (customer_id = ${customer} or customer_id is null)
        and status in ('CART', 'PLACED') and fulfillment_status <> 'FULFILLED' and total_items > 0
      order by id for no key update of sales_order
    )
    select number, count(*) over ()::integer as count from unsent
    where payment_status in ('PARTIALLY_PAID', 'PAID')
    order by id limit ${NAMED}`
  const [first] = paid
  if (first === undefined) return
  const more = first.count > paid.length ? ' and others' : ''
  const orders = first.count === 1 ? '1 order that is' : `${first.count} orders that are`
  throw conflict(
    ['id'],
    `the customer has paid for ${orders} not shipped (${paid.map(({ number }) => number).join(', ')}${more}); ` +
      'fulfil, complete or cancel them before, or send force=true',
  )
}
