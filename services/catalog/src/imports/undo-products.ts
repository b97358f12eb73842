import { isDeepStrictEqual } from 'node:util'
import type { ImportedChange, ImportUndo, UndoneChange, UndoOutcome } from '@backoffice/importing/importer.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { publish } from '@backoffice/postgres/outbox.ts'
import { forgetImages, imagesOf } from '../images/undo-images.ts'
import { oneChangeOn } from '../products/plan-update.ts'
import type { ProductChange } from '../products/product-difference.ts'
import { productTombstone } from '../products/product-records.ts'
import type { ProductRecord } from '../products/product-view.ts'
import { countVariants, lockProducts, lockVariants, readProducts } from '../products/read-products.ts'
import { writeProducts } from '../products/write-products.ts'
import { findTargets, variantKey, withFormerValues } from './with-former-values.ts'

/** About how many variants are read and written in one transaction; a product may have 2,048. */
const VARIANTS = 5000

/**
 * Undoes imported products, variants and stock (OP-151). Products that are deleted give their slugs back before others
 * get their former ones.
 */
export const undoProducts: ImportUndo<ProductChange[]> = {
  order: 'CREATED_FIRST',
  kept: keptProducts,

  async undo(tx, changes, now, importId) {
    const handled = await lockFirst(tx, changes)
    const ids = handled.map(({ id }) => id)
    const [products, sold] = await Promise.all([readProducts(tx, ids), findSold(tx, ids)])
    const current = new Map(products.map((product) => [product.id, product]))
    const targets = await findTargets(
      tx,
      handled.flatMap(({ former }) => (former === null ? [] : [former])),
      now,
    )
    const images = await imagesOf(tx, importId, ids)
    const deleted: string[] = []
    const restored: ProductChange[] = []
    const outcomes = handled.map(({ id, former, version }): UndoOutcome => {
      const before = current.get(id)
      if (before === undefined) return { outcome: 'kept', reason: 'was deleted since the import' }
      if (sold.has(id) || versionOf(before) !== version) {
        return { outcome: 'kept', reason: 'was changed since the import' }
      }
      if (former === null) {
        deleted.push(id)
        return { outcome: 'deleted' }
      }
      const after = withFormerValues(before, former, targets)
      if (typeof after === 'string') return { outcome: 'kept', reason: after }
      const media = after.media.filter(({ asset }) => !images.has(asset))
      const next = { ...after, media, ...oneChangeOn(before, now) }
      restored.push({ before, after: next })
      return { outcome: 'restored', version: versionOf(next) }
    })
    await deleteProducts(tx, deleted, now)
    await writeProducts(tx, restored, { stockReason: 'undone', now })
    const restoredIds = restored.map(({ after }) => after.id)
    if (images.size > 0) await forgetImages(tx, importId, { ids, restored: restoredIds })
    return outcomes
  },
}

/** What is kept of imported products: the former values of the members and variants that the import changed. */
function keptProducts(changes: readonly ProductChange[]): ImportedChange[] {
  return changes.map(({ before, after }) => ({
    id: after.id,
    key: keyOf(after),
    former: before === undefined ? null : formerValues(before, after),
    version_before: before === undefined ? null : versionOf(before),
    version_after: versionOf(after),
  }))
}

/** The version without refreshes and images that arrived: it counts what else changed of the product itself. */
const versionOf = ({ version, refreshes }: ProductRecord): string => String(version - refreshes)

/** A product of one variant is known by its SKU, one of several by its slug. */
const keyOf = ({ type, slug, variants }: ProductRecord): string =>
  type === 'VARIABLE_PRODUCT' ? slug : (variants[0]?.sku ?? slug)

const NOT_KEPT: readonly (keyof ProductRecord)[] = ['variants', 'version', 'refreshes', 'updatedAt']

function formerValues(before: ProductRecord, after: ProductRecord): Record<string, unknown> {
  const members = Object.keys(before) as (keyof ProductRecord)[]
  const changed = members.filter(
    (member) => !NOT_KEPT.includes(member) && !isDeepStrictEqual(before[member], after[member]),
  )
  const variants = new Map(before.variants.map((variant) => [variant.id, variant]))
  const changedVariants = after.variants.filter((variant) => !isDeepStrictEqual(variants.get(variant.id), variant))
  return Object.fromEntries([
    ...changed.map((member) => [member, before[member]]),
    ...changedVariants.map(({ id }) => [variantKey(id), variants.get(id) ?? null]),
  ])
}

/**
 * Locks products, and then their variants, in id order, since orders take stock without a lock on the product. Returns
 * the first changes, whose products have about VARIANTS variants at most. Read the products in a later statement.
 */
async function lockFirst(tx: Transaction, changes: readonly UndoneChange[]): Promise<readonly UndoneChange[]> {
  const ids = changes.map(({ id }) => id)
  await lockProducts(tx, ids)
  const variantsOf = await countVariants(tx, ids)
  let variants = 0
  const tooMany = changes.findIndex(({ id }, index) => {
    variants += variantsOf.get(id) ?? 0
    return index > 0 && variants > VARIANTS
  })
  const first = tooMany === -1 ? changes : changes.slice(0, tooMany)
  const firstIds = first.map(({ id }) => id)
  await lockVariants(tx, firstIds)
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
