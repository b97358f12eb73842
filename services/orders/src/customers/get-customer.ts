import { Customer } from '@backoffice/contracts/customer.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { type CustomerRecord, customerBody, customerColumns, noSuchCustomer } from './customer.ts'

/** GET /v1/customers/{id} (spec: Customers). */
export const getCustomer = operation({
  operationId: 'getCustomer',
  method: 'GET',
  path: '/v1/customers/{id}',
  summary: 'Read a customer',
  scope: 'customer::read',
  responses: { 200: Customer },
  openPoints: ['OP-09', 'OP-40'],

  handle: ({ params, context, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [customer] = await tx<CustomerRecord[]>`
        select ${customerColumns(tx)} from customer where workspace_id = ${context.workspaceId} and id = ${params.id}`
      if (customer === undefined) throw noSuchCustomer(params.id)
      return ok(customerBody(customer))
    }),
})
