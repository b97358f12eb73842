import { type MemberPath, unprocessable } from '@backoffice/contracts/errors.ts'
import { ORDER, ORDER_ITEM } from '@backoffice/contracts/order.ts'
import { noPrice, notOrderable, noVariant, type OrderableVariant } from '@backoffice/contracts/orderable-variant.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import type { ItemRecord, OrderRecord } from './order.ts'
import type { OrderForm } from './order-form.ts'
import { priceOrder } from './price-order.ts'

/** An order at CART that has no number, customer or owner yet. */
export type PlannedOrder = Omit<OrderRecord, 'orderNumber' | 'customer'>

/** An id for a new order: lists are sorted, and filtered by time of creation, by it (OP-140). */
export const newOrderId = (now: Date): string => newId(now)

/**
 * The order of a form, with the prices that catalog has now (OP-41, OP-44). Throws `unprocessable` for a variant that
 * the workspace does not have, that cannot be ordered, or that has no price in the order's currency.
 */
export function planOrder(
  form: OrderForm,
  variants: readonly OrderableVariant[],
  now: Date,
  id = newOrderId(now),
): PlannedOrder {
  const members = { ...ORDER.initial, orderDatetime: now, ...ORDER.changes(form), status: 'CART' as const }
  const lines = orderedLines(form, variants)
  const { lineTotals, ...price } = priceOrder({ lines, ...members })
  return {
    ...members,
    ...price,
    id,
    currency: form.currency,
    items: lines.map((line, index) => ({ ...line, id: newId(), totalPrice: lineTotals[index] ?? 0 })),
    createdAt: now,
    updatedAt: now,
  }
}

/** The variants that the lines of a form name. */
export const wantedVariants = (items: OrderForm['items']) => ({
  ids: unique(items.map(({ variant }) => variant)),
  skus: unique(items.map(({ sku }) => sku)),
})

const unique = (values: readonly (string | null | undefined)[]) => [...new Set(values.filter((value) => value != null))]

/** A line that has no id or total yet. */
export type OrderedLine = Omit<ItemRecord, 'id' | 'totalPrice'>

/** The lines of a form, with the prices that catalog has now. Throws `unprocessable`, as `planOrder` does. */
export function orderedLines(
  { items, currency }: Pick<OrderForm, 'items' | 'currency'>,
  variants: readonly OrderableVariant[],
): OrderedLine[] {
  const byId = new Map(variants.map((variant) => [variant.id, variant]))
  const bySku = new Map(variants.map((variant) => [variant.sku, variant]))
  return items.map((line, index): OrderedLine => {
    const member = line.variant == null ? 'sku' : 'variant'
    const variant = line.variant == null ? bySku.get(line.sku ?? '') : byId.get(line.variant)
    const path = ['items', index, member]
    if (variant === undefined) {
      const reason = noVariant(member === 'sku' ? 'SKU' : 'id', line[member] ?? '')
      throw unprocessable(path, reason, 'unknown_reference')
    }
    const unitPrice = presentPrice(variant, currency, path)
    return {
      ...ORDER_ITEM.initial,
      variant: variant.id,
      title: variant.title,
      sku: variant.sku,
      unitPrice,
      quantity: line.quantity,
      ...ORDER_ITEM.changes(line),
    }
  })
}

/** The present price. Throws `unprocessable` for a variant that cannot be ordered, or not in this currency (OP-141). */
export function presentPrice({ sku, status, price }: OrderableVariant, currency: string, path: MemberPath): number {
  if (status !== 'ACTIVE') throw unprocessable(path, notOrderable(sku, status))
  const unitPrice = price[currency]
  if (unitPrice === undefined) throw unprocessable(path, noPrice(sku, currency))
  return unitPrice
}
