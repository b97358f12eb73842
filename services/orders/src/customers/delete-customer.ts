import { TOPICS } from '@backoffice/contracts/events.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { noSuchCustomer } from './customer.ts'

/**
 * DELETE /v1/customers/{id} (OP-130): the customer is gone at once, his orders stay without him. A worker removes his
 * personal data from orders and stored answers (erase-customers.ts), and customer.erased lets other services remove
 * theirs.
 */
export const deleteCustomer = operation({
  operationId: 'deleteCustomer',
  method: 'DELETE',
  path: '/v1/customers/{id}',
  summary: 'Erase a customer',
  scope: 'customer::delete',
  responses: { 204: null },
  openPoints: ['OP-01', 'OP-130'],
  extension: true,

  handle: ({ params: { id }, context, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      // Waits for orders that are being created with the customer: they hold a lock on the row.
      const deleted = await tx`
        delete from customer where workspace_id = ${context.workspaceId} and id = ${id} returning id`
      if (deleted.length === 0) throw noSuchCustomer(id)
      await tx`
        insert into customer_erasure (workspace_id, id, stage, created_at)
        values (${context.workspaceId}, ${id}, 'ORDERS', ${now})`
      await publish(tx, [outboxRecord(TOPICS.ordersErasures, 'customer.erased', id, { id })], now)
      return new Reply(204)
    }),
})
