import type { RequestContext } from '@backoffice/http/internal-token.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import type { ReserveStock } from '../reservations/reserve-stock.ts'
import { changeOrder, type OrderChange } from './change-order.ts'
import { type ItemRecord, lockOrder, type OrderRecord, readOrder } from './order.ts'
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
    const placed = await reserveStock(context, { id, lines }, (hold) =>
      db.inWorkspace(context, async (tx) => {
        const order = await lockOrder(tx, id)
        requireTransition(order, 'PLACED')
        if (order.status === 'CART') {
          // Another request has changed the lines meanwhile.
          if (!haveSameStock(items, order.items)) return undefined
          await hold(tx)
        }
        return changeOrder(tx, order, { ...change, status: 'PLACED' }, now)
      }),
    )
    return placed ?? placeWithStock(db, reserveStock)(context, id, now, change)
  }
export type PlaceWithStock = ReturnType<typeof placeWithStock>

/** Whether lines take the same stock. */
const haveSameStock = (some: readonly ItemRecord[], others: readonly ItemRecord[]): boolean =>
  some.length === others.length &&
  some.every(
    ({ variant, quantity }, index) => others[index]?.variant === variant && others[index]?.quantity === quantity,
  )
