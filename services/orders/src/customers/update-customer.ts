import { Customer } from '@backoffice/contracts/customer.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import { isUniqueViolation } from '@backoffice/postgres/postgres-errors.ts'
import { CustomerChanges, customerBody, customerEvent, emailTaken, withChanges } from './customer.ts'
import { lockCustomer, updateCustomers } from './write-customers.ts'

/** PUT /v1/customers/{id} (spec: Customers; OP-40): changes the members sent. Throws `conflict` for a taken e-mail. */
export const updateCustomer = operation({
  operationId: 'updateCustomer',
  method: 'PUT',
  path: '/v1/customers/{id}',
  summary: 'Update a customer',
  scope: 'customer::update',
  body: CustomerChanges,
  takesIfMatch: true,
  responses: { 200: Customer },
  events: ['customer.updated'],
  openPoints: ['OP-09', 'OP-40', 'OP-67', 'OP-73', 'OP-266'],

  handle: ({ params, body, now, inWorkspace, requireMatch }) =>
    inWorkspace(async (tx) => {
      const before = await lockCustomer(tx, params.id)
      requireMatch?.(customerBody(before))
      const after = withChanges(before, body, now)
      if (after === before) return ok(customerBody(before))
      await updateCustomers(tx, [after]).catch((error: unknown) => {
        throw isUniqueViolation(error) ? emailTaken() : error
      })
      await publish(tx, [customerEvent('customer.updated', after)], after.updatedAt)
      return ok(customerBody(after))
    }),
})
