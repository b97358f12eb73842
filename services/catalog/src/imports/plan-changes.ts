import type { Row, RowOutcomes } from '@backoffice/importing/row-outcomes.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { partsOf } from '@backoffice/runtime/parts-of.ts'
import { isUnchanged, oneChangeOn } from '../products/plan-update.ts'
import type { ProductChange } from '../products/product-difference.ts'
import type { ProductRecord } from '../products/product-view.ts'
import { readProducts } from '../products/read-products.ts'
import { recordLimit } from '../products/record-size.ts'
import type { FoundProduct } from './find-products.ts'

/**
 * About how many variants one statement reads, and how many a transaction of a batch: it may name 500 products, each
 * with 2,048 variants.
 */
const VARIANTS = { atOnce: 5000, inAll: 10_000 }

/** A row with its product. */
export interface ProductRow<Values> extends Row<Values> {
  readonly product: FoundProduct
  readonly isNew: boolean
}

/**
 * Plans rows that change their products, the rows of one product in their order, and yields the changes of some
 * products at a time. `change` returns the product with the row applied, or throws the row's refusal; `product` has the
 * earlier rows applied, `before` has none. A row fails, too, when it makes the product too large for a record. When a
 * transaction has enough variants, the rows of the other products are left to the next one.
 */
export async function* planChanges<ChangingRow extends ProductRow<Readonly<Record<string, unknown>>>>(
  tx: Transaction,
  rows: readonly ChangingRow[],
  outcomes: RowOutcomes,
  change: (product: ProductRecord, row: ChangingRow, before: ProductRecord) => ProductRecord,
  now: Date,
): AsyncGenerator<ProductChange[]> {
  const byProduct = Map.groupBy(rows, ({ product }) => product)
  const { throttle } = outcomes
  const variantsOf = ({ variants }: FoundProduct) => variants
  const [first = []] = partsOf(byProduct.keys(), throttle.inTransaction(VARIANTS.inAll), variantsOf)
  for (const products of partsOf(first, throttle.rowsAtOnce(VARIANTS.atOnce), variantsOf)) {
    const rowsOf = new Map(products.map((product) => [product.id, byProduct.get(product) ?? []]))
    const read = await readProducts(tx, [...rowsOf.keys()])
    const changes: ProductChange[] = []
    for (const before of read) {
      const fitting = recordLimit(['sku'])
      let after = before
      for (const row of rowsOf.get(before.id) ?? []) {
        await throttle.giveWay()
        const changed = outcomes.attempt(row, () => fitting(change(after, row, before), after))
        if (changed === undefined) continue
        outcomes.planned(row, { id: before.id, isNew: row.isNew, isChanged: !isUnchanged(after, changed) })
        after = changed
      }
      if (!isUnchanged(before, after)) changes.push({ before, after: { ...after, ...oneChangeOn(before, now) } })
    }
    yield changes
  }
}
