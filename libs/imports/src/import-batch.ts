import { Id } from '@backoffice/contracts/fields.ts'
import { TEMPLATES } from '@backoffice/contracts/imports.ts'
import { PRODUCT_STATUSES } from '@backoffice/contracts/product.ts'
import { z } from 'zod'

/** A batch. The values of a row are validated later, so that a bad row fails alone. */
export const ImportBatch = z.object({
  import_id: Id,
  batch: z.int(),
  template: z.enum(TEMPLATES),
  product_statuses: z.array(z.enum(PRODUCT_STATUSES)),
  rows: z.array(z.object({ row: z.int(), values: z.record(z.string(), z.unknown()) })),
})
export type ImportBatch = z.output<typeof ImportBatch>
