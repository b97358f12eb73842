import { isDeepStrictEqual } from 'node:util'
import type { ImportedChange } from '@backoffice/importing/importer.ts'
import type { ProductChange } from '../products/product-difference.ts'
import type { ProductRecord } from '../products/product-view.ts'

/** What is kept of imported products: the former values of the members and variants that the import changed. */
export const keptProducts = (changes: readonly ProductChange[]): ImportedChange[] =>
  changes.map(({ before, after }) => ({
    id: after.id,
    key: keyOf(after),
    former: before === undefined ? null : formerValues(before, after),
    version_before: before === undefined ? null : versionOf(before),
    version_after: versionOf(after),
  }))

/** The version without refreshes: it counts the changes of the product itself. */
export const versionOf = ({ version, refreshes }: ProductRecord): string => String(version - refreshes)

/** A product of one variant is known by its SKU, one of several by its slug. */
const keyOf = ({ type, slug, variants }: ProductRecord): string =>
  type === 'VARIABLE_PRODUCT' ? slug : (variants[0]?.sku ?? slug)

const NOT_KEPT: readonly (keyof ProductRecord)[] = ['variants', 'version', 'refreshes', 'updatedAt']

/** The name of a variant among its product's former values; null for a new one. Batches merge values by name. */
export const variantKey = (id: string): string => `variant:${id}`

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
