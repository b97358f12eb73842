import { type Importer, importBatches } from '@backoffice/messaging/import-batches.ts'
import { importCategories } from './import-categories.ts'
import { importProductVariants } from './import-product-variants.ts'
import { importProducts } from './import-products.ts'
import { importStock } from './import-stock.ts'

/** Applies the batches of imports whose template is the catalog's (OP-54). `wake` tells the relay. */
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

/** The ledger says of each movement what it comes from (decision 016). */
function movingStock(importer: Importer): Importer {
  return async (tx, batch, now) => {
    await tx`select set_config('app.stock_reason', 'imported', true)`
    return importer(tx, batch, now)
  }
}
