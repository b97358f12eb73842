import { type Importer, importBatches } from '@backoffice/messaging/import-batches.ts'
import { importCategories } from './import-categories.ts'
import { importProductVariants } from './import-product-variants.ts'
import { importProducts } from './import-products.ts'
import { importStock } from './import-stock.ts'

/** Applies batches of the catalog's import templates (OP-54). `wake` wakes the relay. */
export const applyImportBatches = (wake: () => void) =>
  importBatches({
    name: 'catalog.imports',
    importers: {
      products: movingStock(importProducts),
      product_variants: movingStock(importProductVariants),
      stock: movingStock(importStock),
      categories: importCategories,
    },
    wake,
  })

/** Sets the reason that the stock ledger records for each movement (decision 016). */
function movingStock(importer: Importer): Importer {
  return async (tx, batch, now) => {
    await tx`select set_config('app.stock_reason', 'imported', true)`
    return importer(tx, batch, now)
  }
}
