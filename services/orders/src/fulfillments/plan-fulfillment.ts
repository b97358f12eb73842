import { conflict } from '@backoffice/contracts/errors.ts'
import { type LineQuantity, openQuantity, takenLines, takenOf } from '../orders/line-quantities.ts'
import type { ItemRecord, OrderRecord } from '../orders/order.ts'
import { requireAllowed } from '../orders/order-states.ts'

interface FulfillableOrder extends Pick<OrderRecord, 'status' | 'fulfillmentStatus'> {
  readonly items: readonly Pick<ItemRecord, 'id' | 'quantity' | 'fulfilled'>[]
}

/**
 * What a fulfilment takes of each item, in the order of the items. Without `wanted` it takes all that is open; an item
 * that is wanted twice counts with its sum. Throws `conflict` at CART or CANCELLED (OP-48) and when nothing is open,
 * and `unprocessable` for an unknown item and for more than is open.
 */
export function planFulfillment(order: FulfillableOrder, wanted?: readonly LineQuantity[] | null): LineQuantity[] {
  requireAllowed('be fulfilled', order)
  const items = takenLines(order.items, takenOf(order.items, wanted, openQuantity, 'left to fulfil'))
  if (items.length === 0)
    throw conflict(['items'], 'nothing of the order is open: all is fulfilled or cancelled; list its fulfillments')
  return items
}
