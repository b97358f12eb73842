import type { Transaction } from '@backoffice/postgres/database.ts'
import type { ProductRecord, VariantRecord } from '../products/product-view.ts'
import { resolveReferences } from '../products/references.ts'
import { findSlugs } from './find-products.ts'

/** Former values of a product, by member, and of its variants by `variantKey`. Dates are texts. */
export type FormerValues = Readonly<Record<string, unknown>> &
  Partial<Pick<ProductRecord, 'slug' | 'categories' | 'tags'>>

/** The name of a variant among its product's former values; null for a new one. Batches merge values by name. */
export const variantKey = (id: string): string => `variant:${id}`

/** The categories, tags and slugs that products are to get back, as far as the workspace has them now. */
export async function findTargets(tx: Transaction, former: readonly FormerValues[], now: Date) {
  const wanted = {
    categoryIds: former.flatMap(({ categories = [] }) => categories.map(({ id }) => id)),
    tags: former.flatMap(({ tags = [] }) => tags),
  }
  const slugs = former.flatMap(({ slug }) => slug ?? [])
  const [{ found }, owners] = await Promise.all([resolveReferences(tx, wanted, now, true), findSlugs(tx, slugs)])
  return {
    categories: new Map(found.categories.map((category) => [category.id, category])),
    // A tag that was deleted, and created again, has another id.
    tags: new Map(found.tags.map((tag) => [tag.id, tag])),
    owners,
  }
}

/** The product with its former values, or the reason why it cannot get them back. */
export function withFormerValues(
  product: ProductRecord,
  former: FormerValues,
  targets: Awaited<ReturnType<typeof findTargets>>,
): ProductRecord | string {
  const owner = former.slug === undefined ? undefined : targets.owners.get(former.slug)
  if (owner !== undefined && owner !== product.id) return `its former slug "${former.slug}" belongs to another product`
  const lost = [
    ...(former.categories ?? []).filter(({ id }) => !targets.categories.has(id)),
    ...(former.tags ?? []).filter(({ id }) => !targets.tags.has(id)),
  ]
  if (lost[0] !== undefined) return `"${lost[0].slug}", which it had before, was deleted since the import`
  const variants = product.variants.flatMap((variant) => {
    const known = former[variantKey(variant.id)]
    if (known === null) return []
    return { ...variant, ...(known as VariantRecord | undefined) }
  })
  if (exchangesCombinations(product.variants, variants))
    return 'its variants had each other’s options before the import'
  const members = Object.entries(former).filter(([member]) => member in product)
  const restored = { ...product, ...Object.fromEntries(members), variants } as ProductRecord
  return {
    ...restored,
    preorderStopsAt: restored.preorderStopsAt === null ? null : new Date(restored.preorderStopsAt),
    categories: restored.categories.map((category) => targets.categories.get(category.id) ?? category),
    tags: restored.tags.map((tag) => targets.tags.get(tag.id) ?? tag),
  }
}

/** Whether a variant gets the combination that another one has before the statement: the database checks row by row. */
function exchangesCombinations(current: readonly VariantRecord[], next: readonly VariantRecord[]): boolean {
  const owners = new Map(current.map((variant) => [combination(variant), variant.id]))
  return next.some((variant) => (owners.get(combination(variant)) ?? variant.id) !== variant.id)
}

const combination = ({ attributes }: VariantRecord): string => JSON.stringify(Object.entries(attributes).toSorted())
