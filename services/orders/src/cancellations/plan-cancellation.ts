import { conflict } from '@backoffice/contracts/errors.ts'
import type { OrderChange } from '../orders/change-order.ts'
import { type LineQuantity, openQuantity, takenLines, takenOf } from '../orders/line-quantities.ts'
import type { OrderRecord } from '../orders/order.ts'
import { requireAllowed } from '../orders/order-states.ts'
import { reducedOrder } from '../orders/reduce-order.ts'

interface PlannedCancellation {
  readonly items: LineQuantity[]
  readonly change: OrderChange
  /** By how much the total falls. */
  readonly amount: number
}

/**
 * What a cancellation takes of each line, all that is open without `wanted`, and what becomes of the order. One of
 * which nothing is fulfilled and nothing would be left is CANCELLED as it stands, unless it is COMPLETED. Throws
 * `conflict` when the order's status is against it or nothing is open, and `unprocessable` for more than is open.
 */
export function planCancellation(
  order: OrderRecord & { readonly isInvoiced: boolean },
  wanted?: readonly LineQuantity[] | null,
): PlannedCancellation {
  requireAllowed('have open quantities cancelled', order)
  const taken = takenOf(order.items, wanted, openQuantity, 'left to cancel')
  const items = takenLines(order.items, taken)
  if (items.length === 0)
    throw conflict(
      ['items'],
      'nothing of the order is open: all is fulfilled or cancelled; record a return of what came back',
    )
  const isLeft = order.items.some(({ id, quantity, fulfilled }) => fulfilled > 0 || quantity > (taken.get(id) ?? 0))
  if (!isLeft && order.status !== 'COMPLETED') return { items, change: { status: 'CANCELLED' }, amount: 0 }
  const reduced = reducedOrder(order, taken, 'open')
  // A line of which nothing is left stays once it may be in a fulfilment.
  const left = reduced.items.filter(({ quantity }) => quantity > 0)
  const change = order.status === 'CART' ? { ...reduced, items: left } : reduced
  return { items, change, amount: order.totalPrice - change.totalPrice }
}
