import { unprocessable } from '@backoffice/contracts/errors.ts'
import { StockRow } from '@backoffice/contracts/imports.ts'
import type { RowsToPlan } from '@backoffice/importing/importer.ts'
import type { Row, RowOutcomes } from '@backoffice/importing/row-outcomes.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import type { ProductChange } from '../products/product-difference.ts'
import type { ProductRecord } from '../products/product-view.ts'
import { refuseTooMuchStock } from '../variants/plan-variant.ts'
import { type FoundProducts, findProductsOf } from './find-products.ts'
import { type ProductRow, planChanges } from './plan-changes.ts'
import { PRODUCT_CHANGES, type ProductImporter } from './product-changes.ts'

/** Rows of the template `stock` (OP-54, OP-55): sets the stock of each SKU, of products of all types. */
export const importStock: ProductImporter = {
  async *plan(tx, batch, outcomes, now) {
    yield* planStock(tx, { ...batch, rows: await outcomes.read(StockRow, 'sku', batch.rows) }, outcomes, now)
  },

  ...PRODUCT_CHANGES,
}

/** Plans rows with different SKUs, and yields the changes of some products at a time. */
export async function* planStock(
  tx: Transaction,
  sent: Pick<RowsToPlan, 'isCheck'> & { readonly rows: readonly Row<StockRow>[] },
  outcomes: RowOutcomes,
  now: Date,
): AsyncGenerator<ProductChange[]> {
  const skus = sent.rows.map(({ values }) => values.sku)
  const { bySku } = await findProductsOf(tx, sent, skus)
  const known = sent.rows.flatMap((row) => outcomes.attempt(row, () => withProduct(row, bySku)) ?? [])
  yield* planChanges(tx, known, outcomes, withStock, now)
}

function withProduct(row: Row<StockRow>, bySku: FoundProducts['bySku']): ProductRow<StockRow> {
  const { sku } = row.values
  const product = bySku.get(sku)
  if (product === undefined) throw unprocessable(['sku'], `this workspace has no "${sku}"`, 'unknown_reference')
  return { ...row, product, isNew: false }
}

function withStock(product: ProductRecord, { values: { sku, stock } }: ProductRow<StockRow>): ProductRecord {
  const variant = product.variants.find((one) => one.sku === sku)
  if (variant === undefined) return product
  refuseTooMuchStock(product, stock, variant)
  return { ...product, variants: product.variants.map((one) => (one === variant ? { ...one, stock } : one)) }
}
