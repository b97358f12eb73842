import { inOrder } from '@backoffice/contracts/members.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { ORDER, Order } from '@backoffice/contracts/order.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { Catalog } from '../catalog/catalog-client.ts'
import { releaseHeld, returnStock } from '../reservations/reserve-stock.ts'
import { changeOrder } from './change-order.ts'
import { lockOrder, orderBody } from './order.ts'
import { requireAllowed, requireTransition } from './order-states.ts'
import { AcceptPrices, type PlaceWithStock } from './place-order.ts'

const UpdateOrderBody = namedObject(
  'OrderUpdate',
  { ...inOrder(['note', 'promise_date', 'shipping_address'], ORDER.shapes.update), accept_prices: AcceptPrices },
  {
    status: 'COMPLETED',
    note: 'Picked up at the shop',
  },
)

/**
 * PUT /v1/orders/{id} (extension of OP-43): changes the members that are sent. PLACED takes the stock of the order, and
 * CANCELLED returns it (OP-44).
 */
export const updateOrder = (catalog: Catalog, place: PlaceWithStock, logger: Logger) =>
  operation({
    operationId: 'updateOrder',
    method: 'PUT',
    path: '/v1/orders/{id}',
    summary: 'Update an order, or move it to another status',
    scope: 'sale::update',
    body: UpdateOrderBody,
    takesIfMatch: true,
    responses: { 200: Order },
    events: ['order.updated', 'order.paid', 'invoice.paid'],
    openPoints: [
      'OP-41',
      'OP-43',
      'OP-44',
      'OP-45',
      'OP-48',
      'OP-71',
      'OP-73',
      'OP-143',
      'OP-207',
      'OP-208',
      'OP-213',
      'OP-214',
      'OP-266',
    ],
    extension: true,

    async handle({ params: { id }, body, context, now, inWorkspace, readAhead, expectBytes, requireMatch }) {
      const change = ORDER.changes(body)
      if (change.status === 'PLACED') {
        const placing = { change, acceptsPrices: body.accept_prices, requireMatch, readAhead, expectBytes }
        return ok(orderBody(await place(context, id, now, placing)))
      }
      let released: string | undefined
      const reply = await inWorkspace(async (tx) => {
        const order = await lockOrder(tx, id)
        requireMatch?.(orderBody(order))
        const { status = order.status } = change
        requireTransition(order, status)
        if (body.shipping_address !== undefined) requireAllowed('get another address', order)
        released = order.status === 'PLACED' && status === 'CANCELLED' ? await releaseHeld(tx, id) : undefined
        return ok(orderBody(await changeOrder(tx, order, change, now)))
      })
      if (released !== undefined) await returnStock({ catalog, logger }, context, released)
      return reply
    },
  })
