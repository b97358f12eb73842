import { Customer } from '@backoffice/contracts/customer.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { customerBody, readCustomer } from './customer.ts'

/** GET /v1/customers/{id} (spec: Customers). */
export const getCustomer = operation({
  operationId: 'getCustomer',
  method: 'GET',
  path: '/v1/customers/{id}',
  summary: 'Read a customer',
  scope: 'customer::read',
  responses: { 200: Customer },
  openPoints: ['OP-09', 'OP-40'],

  handle: ({ params, inWorkspace }) => inWorkspace(async (tx) => ok(customerBody(await readCustomer(tx, params.id)))),
})
