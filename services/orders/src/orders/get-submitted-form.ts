import { exampleOf } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { readSizedValue } from '@backoffice/postgres/lists/sized-rows.ts'
import { z } from 'zod'
import { noSuchOrder } from './order.ts'
import { OrderForm } from './order-form.ts'

/** GET /v1/orders/{id}/form (extension of OP-41): the order's form as submitted, with members that the order lacks. */
export const getSubmittedForm = operation({
  operationId: 'getSubmittedOrderForm',
  method: 'GET',
  path: '/v1/orders/{id}/form',
  summary: "Read an order's form as it was submitted",
  scope: 'sale::read',
  responses: { 200: z.record(z.string(), z.unknown()).meta({ examples: [exampleOf(OrderForm)] }) },
  openPoints: ['OP-41'],
  extension: true,

  handle: ({ params: { id }, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const form = await readSizedValue<Record<string, unknown>>(tx, {
        value: tx`form`,
        bytes: tx`octet_length(form::text)`,
        source: tx`from order_form where workspace_id = ${tx.context.workspaceId} and order_id = ${id}`,
      })
      if (form === undefined) throw noSuchOrder(id)
      return ok(form)
    }),
})
