import type { CategoryReference, Tag } from '@backoffice/contracts/product.ts'
import type { ProductRecord, VariantRecord } from '../products/product-view.ts'
import { variantKey } from './kept-products.ts'

/** Former values of a product, by member, and of its variants by `variantKey`. Dates are texts. */
export type FormerValues = Readonly<Record<string, unknown>> &
  Partial<Pick<ProductRecord, 'slug' | 'categories' | 'tags'>>

/** What former values of products refer to, as far as the workspace has it now. */
export interface UndoTargets {
  /** By id. */
  readonly categories: ReadonlyMap<string, CategoryReference>
  readonly tags: ReadonlyMap<string, Tag>
  /** Slug → the id of the product that has it. */
  readonly slugs: ReadonlyMap<string, string>
}

/** The product with its former values, or the reason why it cannot get them back. */
export function withFormerValues(
  product: ProductRecord,
  former: FormerValues,
  targets: UndoTargets,
): ProductRecord | string {
  const owner = former.slug === undefined ? undefined : targets.slugs.get(former.slug)
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
