import type { Transaction } from '@backoffice/postgres/database.ts'
import type { Change } from '../products/product-difference.ts'
import type { ProductRecord } from '../products/product-view.ts'
import { writeProducts } from '../products/write-products.ts'

/** Writes products without events (OP-72). The stock ledger records their movements as imported (decision 016). */
export async function writeImportedProducts(
  tx: Transaction,
  changes: readonly Change<ProductRecord>[],
  now: Date,
): Promise<void> {
  if (changes.length === 0) return
  await tx`select set_config('app.stock_reason', 'imported', true)`
  await writeProducts(tx, changes, { now })
}
