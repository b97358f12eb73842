import { Customer } from '@backoffice/contracts/customer.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import { customerBody, customerEvent, emailTaken, NewCustomer, newCustomer } from './customer.ts'
import { insertCustomer } from './write-customers.ts'

/** POST /v1/customers (extension of OP-40). Throws `conflict` for the e-mail address of another customer. */
export const createCustomer = operation({
  operationId: 'createCustomer',
  method: 'POST',
  path: '/v1/customers',
  summary: 'Create a customer',
  scope: 'customer::create',
  body: NewCustomer,
  responses: { 201: Customer },
  events: ['customer.created'],
  openPoints: ['OP-08', 'OP-40', 'OP-67'],
  extension: true,

  handle: ({ body, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const customer = newCustomer(body, now)
      if (!(await insertCustomer(tx, customer))) throw emailTaken()
      await publish(tx, [customerEvent('customer.created', customer)], now)
      return created(customerBody(customer))
    }),
})
