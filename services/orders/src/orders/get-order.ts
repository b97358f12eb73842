import { Order } from '@backoffice/contracts/order.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { orderBody, readOrder } from './order.ts'

/** GET /v1/orders/{id} (extension of OP-43). */
export const getOrder = operation({
  operationId: 'getOrder',
  method: 'GET',
  path: '/v1/orders/{id}',
  summary: 'Read an order',
  scope: 'sale::read',
  responses: { 200: Order },
  openPoints: ['OP-42', 'OP-43', 'OP-46'],
  extension: true,

  handle: ({ params, inWorkspace }) => inWorkspace(async (tx) => ok(orderBody(await readOrder(tx, params.id)))),
})
