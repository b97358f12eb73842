import { ApiError } from '@backoffice/contracts/errors.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import type { HoldReservation, ReserveStock } from '../reservations/reserve-stock.ts'
import { changeOrder, type OrderChange } from './change-order.ts'
import { lockOrder, type OrderRecord, readOrder } from './order.ts'
import { requireTransition } from './order-states.ts'

/**
 * Takes the stock of an order at CART and places it (OP-44), with `change` in the same transaction. An order that is
 * PLACED already, perhaps by a concurrent request, keeps its stock and gets `change` only. Throws `not_found`,
 * `conflict` for short stock or an illegal transition, and `service_unavailable` when catalog is away; then nothing
 * changes.
 */
export const placeWithStock =
  (db: Database, reserveStock: ReserveStock) =>
  async (context: RequestContext, id: string, now: Date, change: OrderChange = {}): Promise<OrderRecord> => {
    const read = () => db.inWorkspace(context, (tx) => readOrder(tx, id))
    /** `hold` is missing when the order has left CART, to which it never returns. */
    const place = (hold?: HoldReservation) =>
      db.inWorkspace(context, async (tx) => {
        const order = await lockOrder(tx, id)
        requireTransition(order, 'PLACED')
        // Another request may have placed it: then its reservation is not held twice.
        if (order.status === 'CART') await hold?.(tx)
        return changeOrder(tx, order, { ...change, status: 'PLACED' }, now)
      })

    const { status, items } = await read()
    if (status !== 'CART') return place()
    try {
      return await reserveStock(context, { id, lines: items }, place)
    } catch (error) {
      // The stock may be short because a concurrent request has placed this very order.
      const isRefused = error instanceof ApiError && error.code === 'conflict'
      if (isRefused && (await read()).status !== 'CART') return place()
      throw error
    }
  }
export type PlaceWithStock = ReturnType<typeof placeWithStock>
