import type { Transaction } from '@backoffice/postgres/database.ts'
import type { OrderChange } from './change-order.ts'
import type { OrderRecord } from './order.ts'
import { priceOrder } from './price-order.ts'

type Reducible = Pick<OrderRecord, 'items' | 'subtotalPrice' | 'totalShipping' | 'totalTax' | 'totalDiscount'>

/**
 * An order without quantities of its lines, which were fulfilled or still open (OP-209, OP-210). Discount and tax fall
 * with the subtotal, rounded down; the shipping stays.
 */
export function reducedOrder(order: Reducible, taken: ReadonlyMap<string, number>, from: 'open' | 'fulfilled') {
  const lines = order.items.map((item) => {
    const quantity = taken.get(item.id) ?? 0
    const fulfilled = item.fulfilled - (from === 'fulfilled' ? quantity : 0)
    return { ...item, quantity: item.quantity - quantity, fulfilled }
  })
  const { subtotalPrice } = priceOrder({ lines, totalShipping: 0, totalTax: 0, totalDiscount: 0 })
  const share = (amount: number) => shareOf(amount, subtotalPrice, order.subtotalPrice)
  const amounts = { totalTax: share(order.totalTax), totalDiscount: share(order.totalDiscount) }
  const { lineTotals, ...price } = priceOrder({ ...order, ...amounts, lines })
  const items = lines.map((line, index) => ({ ...line, totalPrice: lineTotals[index] ?? 0 }))
  return { ...amounts, ...price, items } satisfies OrderChange
}

/** Exact: the product may exceed 2^53. */
const shareOf = (amount: number, part: number, whole: number): number =>
  whole === 0 ? amount : Number((BigInt(amount) * BigInt(part)) / BigInt(whole))

/** Writes quantities and totals of items. The caller has locked the order. */
export async function writeQuantities(tx: Transaction, order: string, items: OrderRecord['items']): Promise<void> {
  await tx`
    update order_item set quantity = line.quantity, fulfilled = line.fulfilled, total_price = line."totalPrice"
    from json_to_recordset(${JSON.stringify(items)}::text::json) as line (
      id uuid, quantity bigint, fulfilled bigint, "totalPrice" bigint
    )
    where workspace_id = ${tx.context.workspaceId} and order_id = ${order} and order_item.id = line.id
      and (order_item.quantity <> line.quantity or order_item.fulfilled <> line.fulfilled)`
}
