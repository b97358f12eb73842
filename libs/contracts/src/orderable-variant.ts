import { z } from 'zod'
import { Id, MoneyMap } from './fields.ts'
import { PRODUCT_STATUSES, type ProductStatus } from './product.ts'

/** A variant as catalog has it at the moment of an order: the answer of `POST /internal/variants/read`. */
export const OrderableVariant = z.object({
  id: Id,
  sku: z.string(),
  /** The product's name and, of a variable product, the chosen values: `Shirt - Red / M`. */
  title: z.string(),
  /** The product's status. */
  status: z.enum(PRODUCT_STATUSES),
  price: MoneyMap,
})
export type OrderableVariant = z.output<typeof OrderableVariant>

/* What catalog and orders say of a variant that cannot be ordered, and what to change. */

export const noVariant = (member: 'id' | 'SKU', value: string): string =>
  `this workspace has no variant with the ${member} "${value}"; correct it, or leave the item out`

export const notOrderable = (sku: string, status: ProductStatus): string =>
  `"${sku}" cannot be ordered while its product is ${status}; make the product ACTIVE, or leave the item out`

export const noPrice = (sku: string, currency: string): string =>
  `"${sku}" has no price in ${currency}; give it one, or leave the item out`
