import { importBatches } from '@backoffice/importing/import-batches.ts'
import type { Importers } from '@backoffice/importing/importer.ts'
import { importCategories } from './import-categories.ts'
import { importProductVariants } from './import-product-variants.ts'
import { importProducts } from './import-products.ts'
import { importStock } from './import-stock.ts'

/** The import templates of the service (OP-54). */
export const importers: Importers = {
  products: importProducts,
  product_variants: importProductVariants,
  stock: importStock,
  categories: importCategories,
}

/** Applies batches of the catalog's import templates (OP-54). `wake` wakes the relay. */
export const applyImportBatches = (wake: () => void) => importBatches({ name: 'catalog.imports', importers, wake })
