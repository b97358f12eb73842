import { unprocessable } from '@backoffice/contracts/errors.ts'
import { StockRow } from '@backoffice/contracts/imports.ts'
import type { Row } from '@backoffice/importing/row-outcomes.ts'
import type { ProductRecord } from '../products/product-view.ts'
import { refuseTooMuchStock } from '../variants/plan-variant.ts'
import { type FoundProducts, findProductsOf } from './find-products.ts'
import { type ProductRow, planChanges } from './plan-changes.ts'
import { PRODUCT_CHANGES, type ProductImporter } from './product-changes.ts'

/** Rows of the template `stock` (OP-54, OP-55): sets the stock of each SKU, of products of all types. */
export const importStock: ProductImporter = {
  async *plan(tx, batch, outcomes, now) {
    const rows = outcomes.read(StockRow, 'sku', batch.rows)
    const skus = rows.map(({ values }) => values.sku)
    const { bySku } = await findProductsOf(tx, batch, skus)
    const known = rows.flatMap((row) => outcomes.attempt(row, () => withProduct(row, bySku)) ?? [])
    yield* planChanges(tx, known, outcomes, withStock, now)
  },

  ...PRODUCT_CHANGES,
}

function withProduct(row: Row<StockRow>, bySku: FoundProducts['bySku']): ProductRow<StockRow> {
  const { sku } = row.values
  const product = bySku.get(sku)
  if (product === undefined) throw unprocessable(['sku'], `this workspace has no "${sku}"`)
  return { ...row, product, isNew: false }
}

function withStock(product: ProductRecord, { values: { sku, stock } }: ProductRow<StockRow>): ProductRecord {
  const variant = product.variants.find((one) => one.sku === sku)
  if (variant === undefined) return product
  refuseTooMuchStock(product, stock, variant)
  return { ...product, variants: product.variants.map((one) => (one === variant ? { ...one, stock } : one)) }
}
