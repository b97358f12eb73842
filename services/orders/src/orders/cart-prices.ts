import { conflict, memberMessage } from '@backoffice/contracts/errors.ts'
import { CART_PRICE_SECONDS } from '@backoffice/contracts/order.ts'
import type { OrderableVariant } from '@backoffice/contracts/orderable-variant.ts'
import type { OrderChange } from './change-order.ts'
import { presentPrice } from './new-order.ts'
import type { OrderRecord } from './order.ts'
import { priceOrder } from './price-order.ts'

/**
 * Whether the prices of an order at CART have to be looked up before it is placed: they hold for some seconds (OP-214).
 * An order with a payment keeps its prices.
 */
export const havePricesExpired = (
  { status, paid, pricedAt, createdAt }: Pick<OrderRecord, 'status' | 'paid' | 'pricedAt' | 'createdAt'>,
  now: Date,
  seconds = CART_PRICE_SECONDS,
): boolean => status === 'CART' && paid === 0 && now.getTime() - (pricedAt ?? createdAt).getTime() >= seconds * 1000

/**
 * The change that gives an order the prices of catalog; none where they are the same. A negotiated price stays. A
 * variant that is gone keeps its price, because its stock cannot be taken. Throws `conflict`, which names the old and
 * new prices, unless the client accepts new ones, and `unprocessable` for a variant that cannot be ordered any more.
 */
export function repriced(
  order: OrderRecord,
  variants: readonly OrderableVariant[],
  acceptsPrices: boolean,
  now: Date,
): OrderChange {
  const byId = new Map(variants.map((variant) => [variant.id, variant]))
  const changes: string[] = []
  const lines = order.items.map((item, index) => {
    const variant = byId.get(item.variant)
    if (variant === undefined || item.negotiatedUnitPrice !== null) return item
    const unitPrice = presentPrice(variant, order.currency, ['items', index, 'variant'])
    if (unitPrice === item.unitPrice) return item
    const reason = `"${item.sku}" was ${item.unitPrice} ${order.currency} in the cart and is ${unitPrice} ${order.currency} now`
    changes.push(memberMessage(['items', index, 'unit_price'], reason))
    return { ...item, unitPrice }
  })
  if (changes.length === 0) return {}
  if (!acceptsPrices) {
    changes.push('send accept_prices: true to place the order at the present prices')
    throw conflict([], changes.join('; '), 'price_changed')
  }
  const { lineTotals, ...price } = priceOrder({ ...order, lines })
  const items = lines.map((line, index) => ({ ...line, totalPrice: lineTotals[index] ?? 0 }))
  return { ...price, items, pricedAt: now }
}
