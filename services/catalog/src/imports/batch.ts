import { Id } from '@backoffice/contracts/fields.ts'
import { PRODUCT_STATUSES } from '@backoffice/contracts/product.ts'
import { z } from 'zod'

/** What this service applies. */
export const OWN_TEMPLATES = ['products', 'product_variants', 'stock', 'categories'] as const

/** A batch as it is read: each row's values are read for themselves, so that one that does not fit fails alone. */
export const Batch = z.object({
  import_id: Id,
  batch: z.int(),
  template: z.enum(OWN_TEMPLATES),
  product_statuses: z.array(z.enum(PRODUCT_STATUSES)),
  rows: z.array(z.object({ row: z.int(), values: z.record(z.string(), z.unknown()) })),
})
export type Batch = z.output<typeof Batch>
