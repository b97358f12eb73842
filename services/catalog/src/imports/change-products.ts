import type { Row, RowOutcomes } from '@backoffice/messaging/row-outcomes.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { isUnchanged, oneChangeOn } from '../products/plan-update.ts'
import type { ProductRecord } from '../products/product-view.ts'
import { readProducts } from '../products/read-products.ts'
import type { LockedProduct } from './lock-products.ts'
import { writeProducts } from './write-products.ts'

/** Variants read at once, about: a product has up to 2,048, and a batch may be about 500 products. */
const VARIANTS_AT_ONCE = 5000

/** A row with the product it is about. */
export interface ProductRow<Values> extends Row<Values> {
  readonly product: LockedProduct
  readonly isNew: boolean
}

/**
 * Applies rows to the products they are about, those of one product in their order. `change` is given the product as the rows
 * before have made it and as it was before the batch; it returns what the row makes of it, or throws what the row
 * is refused for.
 */
export async function changeProducts<ChangingRow extends ProductRow<Readonly<Record<string, unknown>>>>(
  tx: Transaction,
  rows: readonly ChangingRow[],
  outcomes: RowOutcomes,
  change: (product: ProductRecord, row: ChangingRow, before: ProductRecord) => ProductRecord,
  now: Date,
): Promise<void> {
  const byProduct = Map.groupBy(rows, ({ product }) => product)
  for (const products of partsOf([...byProduct.keys()])) {
    const read = await readProducts(
      tx,
      products.map(({ id }) => id),
    )
    const rowsOf = new Map(products.map((product) => [product.id, byProduct.get(product) ?? []]))
    const changes = read.flatMap((current) => {
      let next = current
      for (const row of rowsOf.get(current.id) ?? []) {
        const changed = outcomes.attempt(row, () => change(next, row, current))
        if (changed === undefined) continue
        outcomes.applied(row, row.isNew ? 'created' : 'updated')
        next = changed
      }
      return isUnchanged(current, next) ? [] : [{ current, next: { ...next, ...oneChangeOn(current, now) } }]
    })
    await writeProducts(tx, changes, now)
  }
}

function* partsOf(products: readonly LockedProduct[]): Generator<LockedProduct[]> {
  let part: LockedProduct[] = []
  let variants = 0
  for (const product of products) {
    if (part.length > 0 && variants + product.variants > VARIANTS_AT_ONCE) {
      yield part
      part = []
      variants = 0
    }
    part.push(product)
    variants += product.variants
  }
  if (part.length > 0) yield part
}
