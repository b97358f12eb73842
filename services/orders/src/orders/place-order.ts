import type { RequestContext } from '@backoffice/http/internal-token.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import type { ReserveStock } from '../reservations/reserve-stock.ts'
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
    const { status, items } = await db.inWorkspace(context, (tx) => readOrder(tx, id))
    // An order never returns to CART.
    const lines = status === 'CART' ? items : []
    return reserveStock(context, { id, lines }, (hold) =>
      db.inWorkspace(context, async (tx) => {
        const order = await lockOrder(tx, id)
        requireTransition(order, 'PLACED')
        if (order.status === 'CART') await hold(tx)
        return changeOrder(tx, order, { ...change, status: 'PLACED' }, now)
      }),
    )
  }
export type PlaceWithStock = ReturnType<typeof placeWithStock>
