import { Id } from '@backoffice/contracts/fields.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import type { RecordOf } from '@backoffice/contracts/members.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { CANCELLATION, Cancellation } from '@backoffice/contracts/order.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created, ok } from '@backoffice/http/reply.ts'
import type { Database, Transaction } from '@backoffice/postgres/database.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { z } from 'zod'
import type { Catalog, StockReturn } from '../catalog/catalog-client.ts'
import { changeOrder } from '../orders/change-order.ts'
import { hasInvoice } from '../orders/invoice.ts'
import type { LineQuantity } from '../orders/line-quantities.ts'
import { lockOrder, type OrderRecord } from '../orders/order.ts'
import { isPaidCart } from '../orders/order-states.ts'
import { type PlaceWithStock, placePaid } from '../orders/place-order.ts'
import { writeQuantities } from '../orders/reduce-order.ts'
import { insertReduction, presentReduction } from '../orders/reductions.ts'
import { replaceItems } from '../orders/write-order.ts'
import { retryPlacement, tryPlacement } from '../placements/placement.ts'
import { releaseHeld, returnHeld, returnStock } from '../reservations/reserve-stock.ts'
import { planCancellation } from './plan-cancellation.ts'

/** A cancellation as the database has it. */
export type CancellationRecord = RecordOf<typeof CANCELLATION>

const CancellationBody = namedObject(
  'CancellationInput',
  {
    items: z
      .array(namedObject('CancellationItemInput', { id: Id, quantity: z.int().min(1) }))
      .min(1)
      .max(LIMITS.idsPerCall)
      .nullish(),
    ...CANCELLATION.shapes.create,
  },
  { items: [{ id: '0198c7a0-0000-7000-8000-000000000031', quantity: 1 }], reference: 'CAN-1' },
)

interface Dependencies {
  readonly db: Database
  readonly catalog: Catalog
  readonly place: PlaceWithStock
  readonly logger: Logger
}

/**
 * POST /v1/orders/{id}/cancellations (extension, OP-209): gives up open quantities of lines, or all that is open. Their
 * stock returns and the totals follow. A repeated reference answers the cancellation that is there.
 */
export const createCancellation = ({ db, catalog, place, logger }: Dependencies) =>
  operation({
    operationId: 'createOrderCancellation',
    method: 'POST',
    path: '/v1/orders/{id}/cancellations',
    summary: 'Cancel open quantities of an order',
    scope: 'sale::update',
    body: CancellationBody.optional(),
    responses: { 200: Cancellation, 201: Cancellation },
    events: ['order.updated', 'order.paid', 'invoice.paid'],
    openPoints: ['OP-08', 'OP-47', 'OP-71', 'OP-207', 'OP-209', 'OP-212'],
    extension: true,

    async handle({ params: { id }, body, context, now, inWorkspace }) {
      let isToBePlaced = false
      let given: string | StockReturn | undefined
      const reply = await inWorkspace(async (tx) => {
        const order = await lockOrder(tx, id)
        const { items: wanted, reference = null } = body ?? {}
        const present = await presentReduction<CancellationRecord>(tx, 'cancellation', id, reference, wanted)
        if (present !== undefined) {
          // The transaction may have run before, and clashed with the one that has made it.
          isToBePlaced = false
          given = undefined
          return ok(CANCELLATION.answerOf(present))
        }
        const { items, change, amount } = planCancellation({ ...order, isInvoiced: await hasInvoice(tx, id) }, wanted)
        const cancellation = { id: newId(), order: id, items, amount, reference, createdAt: now }
        await insertReduction(tx, 'cancellation', cancellation)
        given = await giveUp(tx, order, cancellation, change.status === 'CANCELLED')
        const write = order.status === 'CART' ? replaceItems : writeQuantities
        if (change.items !== undefined) await write(tx, id, change.items)
        isToBePlaced = isPaidCart(await changeOrder(tx, order, change, now))
        // The stock may suffice for what is left.
        if (isToBePlaced) await retryPlacement(tx, id)
        return created(CANCELLATION.answerOf(cancellation))
      })
      // The transaction may have run before, and clashed with the one whose answer is stored.
      if (reply.isReplayed) return reply
      if (given !== undefined) await returnStock({ catalog, logger }, context, given)
      if (isToBePlaced) await tryPlacement({ db, logger }, context, id, () => placePaid(place)(context, id, now))
      return reply
    },
  })

/** Gives up the stock that an order holds of what is cancelled. Returns what is to be asked of catalog. */
async function giveUp(
  tx: Transaction,
  order: OrderRecord,
  { id, items }: CancellationRecord,
  isAll: boolean,
): Promise<string | StockReturn | undefined> {
  if (order.status === 'CART') return undefined
  return isAll ? releaseHeld(tx, order.id) : returnHeld(tx, order.id, { id, lines: stockOf(order, items) })
}

/** The stock of lines, to be sold again. */
function stockOf({ items }: OrderRecord, cancelled: readonly LineQuantity[]) {
  const variants = new Map(items.map(({ id, variant }) => [id, variant]))
  return cancelled.map(({ id, quantity }) => ({ variant: variants.get(id) ?? '', quantity, restock: true }))
}
