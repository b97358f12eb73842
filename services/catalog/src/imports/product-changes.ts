import type { Importer } from '@backoffice/importing/importer.ts'
import type { ProductChange } from '../products/product-difference.ts'
import { writeProducts } from '../products/write-products.ts'
import { undoProducts } from './undo-products.ts'

/** An importer that changes products. */
export type ProductImporter = Importer<ProductChange[]>

/** How these importers write their plans, without events (OP-72), and undo them. */
export const PRODUCT_CHANGES: Pick<ProductImporter, 'write' | 'undo'> = {
  write: (tx, changes, now) => writeProducts(tx, changes, { stockReason: 'imported', now }),
  undo: undoProducts,
}
