import { z } from 'zod'
import { Id, MoneyMap } from './fields.ts'
import { PRODUCT_STATUSES } from './product.ts'

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
