import type { RequestContext } from '@backoffice/http/internal-token.ts'
import type { ReadAhead } from '@backoffice/http/operation.ts'
import type { Database, Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { type Catalog, VARIANT_BYTES } from '../catalog/catalog-client.ts'
import { NoLongerPaid } from '../placements/placement.ts'
import type { ReserveStock } from '../reservations/reserve-stock.ts'
import { havePricesExpired, repriced } from './cart-prices.ts'
import { changeOrder, type OrderChange } from './change-order.ts'
import { hasInvoice } from './invoice.ts'
import { type ItemRecord, lockOrder, type OrderRecord, orderBody, readOrder } from './order.ts'
import { isPaidCart, requireTransition } from './order-states.ts'
import { replaceItems } from './write-order.ts'

/** In a request that places an order: whether new prices may replace those it has (OP-214). */
export const AcceptPrices = z.boolean().optional()

interface Placing {
  /** Changed in the same transaction. */
  readonly change?: OrderChange
  /** Whether the order may be placed at other prices than it has. */
  readonly acceptsPrices?: boolean | undefined
  /** Whether an order at CART is placed only while it is PAID. */
  readonly onlyPaid?: boolean
  /** Refuses an order whose body is not as the request says (OP-266). */
  readonly requireMatch?: ((body: unknown) => void) | undefined
  readonly expectBytes?: (bytes: number) => Promise<void>
  /** Reads the order before it is placed; it may be large (OP-192). */
  readonly readAhead?: ReadAhead
}

/**
 * Takes the stock of an order at CART and places it (OP-44), with `change` in the same transaction. Prices that hold no
 * longer are looked up before. An order that is PLACED already, perhaps by a concurrent request, keeps its stock and
 * gets `change` only. Throws `not_found`, `conflict` for short stock, new prices or an illegal transition,
 * `unprocessable` for a variant that cannot be ordered, `service_unavailable` when catalog is away, and NoLongerPaid;
 * then nothing changes.
 */
export const placeWithStock =
  (db: Database, catalog: Catalog, reserveStock: ReserveStock) =>
  async (context: RequestContext, id: string, now: Date, placing: Placing = {}): Promise<OrderRecord> => {
    const { change, acceptsPrices = false, onlyPaid = false, requireMatch, expectBytes } = placing
    const { readAhead = (work) => db.inWorkspace(context, work) } = placing
    const requirePaid = (order: OrderRecord) => {
      if (onlyPaid && order.status === 'CART' && !isPaidCart(order)) throw new NoLongerPaid()
    }
    const haveExpired = async (tx: Transaction, order: OrderRecord) =>
      havePricesExpired(order, now, context.cartPriceSeconds) && !(await hasInvoice(tx, id))
    const [before, isToBeRepriced] = await readAhead(async (tx) => {
      const order = await readOrder(tx, id)
      requireMatch?.(orderBody(order))
      return [order, await haveExpired(tx, order)] as const
    })
    requirePaid(before)
    const { status, items } = before
    const ids = isToBeRepriced ? [...new Set(items.map(({ variant }) => variant))] : []
    await expectBytes?.(ids.length * VARIANT_BYTES)
    const variants = isToBeRepriced ? await catalog.readVariants(context, { ids, skus: [] }) : []
    // Refuses before any stock is taken.
    if (isToBeRepriced) repriced(before, variants, acceptsPrices, now)
    // An order never returns to CART.
    const lines = status === 'CART' ? items : []
    const placed = await reserveStock(context, { id, lines }, (hold) =>
      db.inWorkspace(context, async (tx) => {
        const order = await lockOrder(tx, id)
        requireMatch?.(orderBody(order))
        requireTransition(order, 'PLACED')
        requirePaid(order)
        if (order.status === 'CART') {
          // Another request has changed the lines meanwhile.
          if (!haveSameStock(items, order.items)) return undefined
          await hold(tx)
        }
        // Another request may have paid the order or issued its invoice.
        const prices =
          isToBeRepriced && (await haveExpired(tx, order)) ? repriced(order, variants, acceptsPrices, now) : {}
        if (prices.items !== undefined) await replaceItems(tx, id, prices.items)
        return changeOrder(tx, order, { ...change, ...prices, status: 'PLACED' }, now)
      }),
    )
    return placed ?? placeWithStock(db, catalog, reserveStock)(context, id, now, placing)
  }
export type PlaceWithStock = ReturnType<typeof placeWithStock>

/** Places an order since it is PAID. Throws NoLongerPaid when its payments were refunded meanwhile (OP-204). */
export const placePaid = (place: PlaceWithStock) => (context: RequestContext, id: string, now: Date) =>
  place(context, id, now, { onlyPaid: true })

/** Whether lines take the same stock. */
const haveSameStock = (some: readonly ItemRecord[], others: readonly ItemRecord[]): boolean =>
  some.length === others.length &&
  some.every(
    ({ variant, quantity }, index) => others[index]?.variant === variant && others[index]?.quantity === quantity,
  )
