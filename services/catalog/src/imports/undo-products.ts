import type { ImportUndo, UndoneChange, UndoOutcome } from '@backoffice/importing/importer.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import { lockVariants } from '../products/lock-product.ts'
import { oneChangeOn } from '../products/plan-update.ts'
import type { Change } from '../products/product-difference.ts'
import { productTombstone } from '../products/product-records.ts'
import type { ProductRecord } from '../products/product-view.ts'
import { lockProducts, readProducts } from '../products/read-products.ts'
import { writeProducts } from '../products/write-products.ts'
import { findTargets } from './find-undo-targets.ts'
import { keptProducts, versionOf } from './kept-products.ts'
import { withFormerValues } from './with-former-values.ts'

/** About how many variants are read and written in one transaction; a product may have 2,048. */
const VARIANTS = 5000

/**
 * Undoes imported products, variants and stock (OP-151). Products that are deleted give their slugs back before others
 * get their former ones.
 */
export const undoProducts: ImportUndo<Change<ProductRecord>[]> = {
  order: 'CREATED_FIRST',
  kept: keptProducts,

  async undo(tx, changes, now) {
    const handled = await lockFirst(tx, changes)
    const ids = handled.map(({ id }) => id)
    const [products, sold] = await Promise.all([readProducts(tx, ids), findSold(tx, ids)])
    const current = new Map(products.map((product) => [product.id, product]))
    const unchanged = handled.flatMap((change) => {
      const product = current.get(change.id)
      return product === undefined || sold.has(change.id) || versionOf(product) !== change.version
        ? []
        : [{ product, former: change.former }]
    })
    const created = unchanged.flatMap(({ product, former }) => (former === null ? product.id : []))
    const updated = unchanged.flatMap(({ product, former }) => (former === null ? [] : [{ product, former }]))
    const targets = await findTargets(
      tx,
      updated.map(({ former }) => former),
    )
    const plans = new Map(
      updated.map(({ product, former }) => [product.id, withFormerValues(product, former, targets)]),
    )
    await deleteProducts(tx, created, now)
    await restoreProducts(
      tx,
      updated.flatMap(({ product: before }) => {
        const plan = plans.get(before.id)
        return typeof plan === 'object' ? { before, after: { ...plan, ...oneChangeOn(before, now) } } : []
      }),
      now,
    )
    const deleted = new Set(created)
    return handled.map(({ id }): UndoOutcome => {
      if (deleted.has(id)) return { outcome: 'deleted' }
      const plan = plans.get(id)
      if (typeof plan === 'object') return { outcome: 'restored' }
      const reason = plan ?? (current.has(id) ? 'was changed since the import' : 'was deleted since the import')
      return { outcome: 'kept', reason }
    })
  },
}

/**
 * Locks products, and then their variants, in id order, since orders take stock without a lock on the product. Returns
 * the first changes, whose products have about VARIANTS variants at most. Read the products in a later statement.
 */
async function lockFirst(tx: Transaction, changes: readonly UndoneChange[]): Promise<readonly UndoneChange[]> {
  const workspace = tx.context.workspaceId
  const ids = changes.map(({ id }) => id)
  await lockProducts(tx, ids)
  const counts = await tx<{ product_id: string; variants: number }[]>`
    select product_id, count(*) as variants from variant
    where workspace_id = ${workspace} and product_id = any(${ids}::uuid[])
    group by product_id`
  const variantsOf = new Map(counts.map(({ product_id, variants }) => [product_id, variants]))
  let variants = 0
  const tooMany = changes.findIndex(({ id }, index) => {
    variants += variantsOf.get(id) ?? 0
    return index > 0 && variants > VARIANTS
  })
  const first = tooMany === -1 ? changes : changes.slice(0, tooMany)
  await lockVariants(
    tx,
    first.map(({ id }) => id),
    'ALL',
  )
  return first
}

/** The products with a change that is not in their version yet, such as stock that an order took (decision 017). */
async function findSold(tx: Transaction, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const waiting = await tx<{ product_id: string }[]>`
    select distinct product_id from product_refresh
    where workspace_id = ${tx.context.workspaceId} and product_id = any(${ids as string[]}::uuid[]) and is_change`
  return new Set(waiting.map(({ product_id }) => product_id))
}

async function deleteProducts(tx: Transaction, ids: readonly string[], now: Date): Promise<void> {
  if (ids.length === 0) return
  await tx`delete from product where workspace_id = ${tx.context.workspaceId} and id = any(${ids as string[]}::uuid[])`
  await publish(tx, ids.map(productTombstone), now)
}

async function restoreProducts(tx: Transaction, changes: readonly Change<ProductRecord>[], now: Date): Promise<void> {
  if (changes.length === 0) return
  await tx`select set_config('app.stock_reason', 'undone', true)`
  await writeProducts(tx, changes, { now })
}
