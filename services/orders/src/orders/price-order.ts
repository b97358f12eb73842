import { type MemberPath, unprocessable } from '@backoffice/contracts/errors.ts'
import type { ItemRecord, OrderRecord } from './order.ts'

/** What the price of an order follows from. Amounts are in minor units of one currency, and not negative. */
interface Priceable extends Pick<OrderRecord, 'totalShipping' | 'totalTax' | 'totalDiscount'> {
  readonly lines: readonly Pick<ItemRecord, 'quantity' | 'unitPrice' | 'negotiatedUnitPrice'>[]
}

/**
 * The amounts of an order, and of each line (spec: Order; OP-41, OP-46). All are integers, so nothing is rounded.
 * Throws `unprocessable` for an amount or sum beyond 2^53−1, and for a discount above the subtotal.
 */
export function priceOrder({ lines, totalShipping, totalTax, totalDiscount }: Priceable) {
  const lineTotals = lines.map(({ quantity, unitPrice, negotiatedUnitPrice }, index) =>
    exact(quantity * (negotiatedUnitPrice ?? unitPrice), ['items', index, 'quantity']),
  )
  const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => exact(total + amount, ['items']), 0)
  const subtotalPrice = sum(lineTotals)
  if (totalDiscount > subtotalPrice) {
    throw unprocessable(['total_discount'], `must not be above the subtotal of ${subtotalPrice}`)
  }
  const withShipping = exact(subtotalPrice - totalDiscount + totalShipping, ['total_shipping'])
  const totalPrice = exact(withShipping + totalTax, ['total_tax'])
  return { lineTotals, subtotalPrice, totalPrice, totalItems: sum(lines.map(({ quantity }) => quantity)) }
}

/** A product or sum of two safe integers is exact if it is a safe integer itself. */
function exact(amount: number, path: MemberPath): number {
  if (Number.isSafeInteger(amount)) return amount
  throw unprocessable(path, `makes an amount above ${Number.MAX_SAFE_INTEGER}, the highest there can be; send less`)
}
