import { conflict, unprocessable } from '@backoffice/contracts/errors.ts'
import type { ItemRecord, OrderRecord } from '../orders/order.ts'
import { requireAllowed } from '../orders/order-states.ts'

/** A quantity of an item of an order. */
type FulfilledItem = Pick<ItemRecord, 'id' | 'quantity'>

interface FulfillableOrder extends Pick<OrderRecord, 'status' | 'fulfillmentStatus'> {
  readonly items: readonly Pick<ItemRecord, 'id' | 'quantity' | 'fulfilled'>[]
}

/**
 * What a fulfilment takes of each item, in the order of the items. Without `wanted` it takes all that is open; an item
 * that is wanted twice counts with its sum. Throws `conflict` at CART or CANCELLED (OP-48) and when nothing is open,
 * and `unprocessable` for an unknown item and for more than is open.
 */
export function planFulfillment(order: FulfillableOrder, wanted?: readonly FulfilledItem[] | null): FulfilledItem[] {
  requireAllowed('be fulfilled', order)
  const open = new Map(order.items.map(({ id, quantity, fulfilled }) => [id, quantity - fulfilled]))
  const taken = wanted == null ? open : sumWanted(open, wanted)
  const items = order.items
    .map(({ id }) => ({ id, quantity: taken.get(id) ?? 0 }))
    .filter(({ quantity }) => quantity > 0)
  if (items.length === 0) throw conflict([], 'All items of the order are fulfilled')
  return items
}

function sumWanted(open: ReadonlyMap<string, number>, wanted: readonly FulfilledItem[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const [index, { id, quantity }] of wanted.entries()) {
    const left = open.get(id)
    if (left === undefined) throw unprocessable(['items', index, 'id'], `the order has no item ${id}`)
    const sum = (sums.get(id) ?? 0) + quantity
    if (sum > left) throw unprocessable(['items', index, 'quantity'], `only ${left} of this item is left to fulfil`)
    sums.set(id, sum)
  }
  return sums
}
