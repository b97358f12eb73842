import { type MemberPath, unprocessable } from '@backoffice/contracts/errors.ts'

/** What the price of an order follows from. Amounts are in minor units of one currency, and not negative. */
interface Priceable {
  readonly lines: readonly {
    readonly quantity: number
    readonly unitPrice: number
    /** Replaces the unit price. */
    readonly negotiatedUnitPrice: number | null
  }[]
  readonly totalShipping: number
  readonly totalTax: number
  readonly totalDiscount: number
}

interface OrderPrice {
  /** Of each line: quantity × (negotiated unit price, else unit price). */
  readonly lineTotals: number[]
  /** The sum of the lines. */
  readonly subtotalPrice: number
  /** Subtotal + shipping + tax − discount. */
  readonly totalPrice: number
  /** The sum of the quantities (OP-41). */
  readonly totalItems: number
}

/**
 * The amounts of an order (spec: Order; OP-41, OP-46). All are integers, so nothing is rounded. Throws `unprocessable`
 * for an amount or sum beyond 2^53−1, and for a discount above the subtotal.
 */
export function priceOrder({ lines, totalShipping, totalTax, totalDiscount }: Priceable): OrderPrice {
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
  throw unprocessable(path, `makes an amount above ${Number.MAX_SAFE_INTEGER}, the highest there can be`)
}
