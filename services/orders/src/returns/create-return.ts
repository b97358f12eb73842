import { Id } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import type { RecordOf } from '@backoffice/contracts/members.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { RETURN, Return } from '@backoffice/contracts/order.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created, ok } from '@backoffice/http/reply.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { z } from 'zod'
import type { Catalog, StockReturn } from '../catalog/catalog-client.ts'
import { changeOrder } from '../orders/change-order.ts'
import { takenOf } from '../orders/line-quantities.ts'
import { lockOrder, type OrderRecord } from '../orders/order.ts'
import { requireAllowed } from '../orders/order-states.ts'
import { reducedOrder, writeQuantities } from '../orders/reduce-order.ts'
import { insertReduction, presentReduction } from '../orders/reductions.ts'
import { returnHeld, returnStock } from '../reservations/reserve-stock.ts'

/** A return as the database has it. */
export type ReturnRecord = RecordOf<typeof RETURN>

const ReturnBody = namedObject(
  'ReturnInput',
  {
    items: z
      .array(namedObject('ReturnItemInput', { id: Id, quantity: z.int().min(1), restock: z.boolean() }))
      .min(1)
      .max(LIMITS.idsPerCall),
    ...RETURN.shapes.create,
  },
  { items: [{ id: '0198c7a0-0000-7000-8000-000000000031', quantity: 1, restock: true }], reference: 'RET-1' },
)

/**
 * POST /v1/orders/{id}/returns (extension, OP-210): takes fulfilled quantities out of an order. Their stock returns
 * where it is to be sold again, and the totals follow. A repeated reference answers the return that is there.
 */
export const createReturn = (catalog: Catalog, logger: Logger) =>
  operation({
    operationId: 'createOrderReturn',
    method: 'POST',
    path: '/v1/orders/{id}/returns',
    summary: 'Record goods of an order that came back',
    scope: 'sale::update',
    body: ReturnBody,
    responses: { 200: Return, 201: Return },
    events: ['order.updated', 'order.paid', 'invoice.paid'],
    openPoints: ['OP-08', 'OP-71', 'OP-207', 'OP-210', 'OP-212'],
    extension: true,

    async handle({ params: { id }, body, context, now, inWorkspace }) {
      let returned: StockReturn | undefined
      const reply = await inWorkspace(async (tx) => {
        const order = await lockOrder(tx, id)
        const { reference } = body
        const present = await presentReduction<ReturnRecord>(tx, 'return', id, reference, body.items)
        if (present !== undefined) {
          // The transaction may have run before, and clashed with the one that has made it.
          returned = undefined
          return ok(RETURN.answerOf(present))
        }
        const { items, change } = planReturn(order, body.items)
        const amount = order.totalPrice - change.totalPrice
        const record = { id: newId(), order: id, items, amount, reference, createdAt: now }
        await insertReduction(tx, 'return', record)
        returned = await returnHeld(tx, id, { id: record.id, lines: stockOf(order, items) })
        await writeQuantities(tx, id, change.items)
        await changeOrder(tx, order, change, now)
        return created(RETURN.answerOf(record))
      })
      // The transaction may have run before, and clashed with the one whose answer is stored.
      if (reply.isReplayed) return reply
      if (returned !== undefined) await returnStock({ catalog, logger }, context, returned)
      return reply
    },
  })

type ReturnedItem = ReturnRecord['items'][number]

/**
 * What comes back of each line, in the order of the lines, and what becomes of the order. Throws `conflict` when the
 * order's status is against it, and `unprocessable` for more than was fulfilled.
 */
export function planReturn(order: OrderRecord, wanted: readonly ReturnedItem[]) {
  requireAllowed('have goods returned', order)
  const taken = takenOf(order.items, wanted, ({ fulfilled }) => fulfilled, 'fulfilled')
  const sum = (id: string, restock: boolean) =>
    wanted.reduce((total, item) => total + (item.id === id && item.restock === restock ? item.quantity : 0), 0)
  const items = [...taken.keys()]
    .flatMap((id) => [true, false].map((restock) => ({ id, quantity: sum(id, restock), restock })))
    .filter(({ quantity }) => quantity > 0)
  return { items, change: reducedOrder(order, taken, 'fulfilled') }
}

function stockOf({ items }: OrderRecord, returned: readonly ReturnedItem[]) {
  const variants = new Map(items.map(({ id, variant }) => [id, variant]))
  return returned.map(({ id, quantity, restock }) => ({ variant: variants.get(id) ?? '', quantity, restock }))
}
