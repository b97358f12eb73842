import { unprocessable } from '@backoffice/contracts/errors.ts'
import { StockRow } from '@backoffice/contracts/imports.ts'
import type { ImportBatch } from '@backoffice/messaging/import-batches.ts'
import { RowOutcomes } from '@backoffice/messaging/row-outcomes.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import type { ProductRecord } from '../products/product-view.ts'
import { refuseTooMuchStock } from '../variants/plan-variant.ts'
import { changeProducts, type ProductRow } from './change-products.ts'
import { lockProductsOf } from './lock-products.ts'

/** Applies rows of the template `stock` (OP-54, OP-55): sets the stock of each SKU, of products of all types. */
export async function importStock(tx: Transaction, batch: ImportBatch, now: Date): Promise<RowOutcomes> {
  const outcomes = new RowOutcomes()
  const rows = outcomes.read(StockRow, 'sku', batch.rows)
  const skus = rows.map(({ values }) => values.sku)
  const { bySku } = await lockProductsOf(tx, skus)
  const known = rows.flatMap(
    (row) =>
      outcomes.attempt(row, (): ProductRow<StockRow> => {
        const product = bySku.get(row.values.sku)
        if (product === undefined) throw unprocessable(['sku'], `this workspace has no "${row.values.sku}"`)
        return { ...row, product, isNew: false }
      }) ?? [],
  )
  await changeProducts(tx, known, outcomes, withStock, now)
  return outcomes
}

function withStock(product: ProductRecord, { values: { sku, stock } }: ProductRow<StockRow>): ProductRecord {
  const variant = product.variants.find((one) => one.sku === sku)
  if (variant === undefined) return product
  refuseTooMuchStock(product, stock, variant)
  return { ...product, variants: product.variants.map((one) => (one === variant ? { ...one, stock } : one)) }
}
