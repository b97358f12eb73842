import type { Transaction } from '@backoffice/postgres/database.ts'
import { tagsByName } from '../products/chosen-references.ts'
import type { ProductChange } from '../products/product-difference.ts'
import type { ProductRecord } from '../products/product-view.ts'
import { foldedName, resolveReferences } from '../products/references.ts'

/**
 * Creates the options and tags that changes add and the workspace lacks, and returns the changes with them. Rows are
 * planned as in a check, so that one that fails creates none (OP-56).
 */
export async function createReferences(
  tx: Transaction,
  changes: readonly ProductChange[],
  now: Date,
): Promise<ProductChange[]> {
  const options = addedOf(changes, ({ options }) => options)
  const tags = addedOf(changes, ({ tags }) => tags)
  const wanted = { options: [...new Set(options.map(({ name }) => name))], tags: [...tagsByName(tags).values()] }
  const { found } = await resolveReferences(tx, wanted, now)
  const optionIds = new Map(found.options.map(({ id, name }) => [name, id]))
  const byName = tagsByName(found.tags)
  const stored = {
    options: new Map(options.map(({ id, name }) => [id, optionIds.get(name) ?? id])),
    tags: new Map(tags.map((tag) => [tag.id, byName.get(foldedName(tag)) ?? tag])),
  }
  return changes.map(({ before, after }) => ({ before, after: withStored(after, stored) }))
}

/** What the products have now and had not before. */
function addedOf<Reference extends { readonly id: string }>(
  changes: readonly ProductChange[],
  referencesOf: (product: ProductRecord) => readonly Reference[],
): Reference[] {
  return changes.flatMap(({ before, after }) => {
    const known = new Set(before && referencesOf(before).map(({ id }) => id))
    return referencesOf(after).filter(({ id }) => !known.has(id))
  })
}

/** The product with the stored ids of its options, and its stored tags, by the ids that it was planned with. */
function withStored(
  product: ProductRecord,
  stored: {
    readonly options: ReadonlyMap<string, string>
    readonly tags: ReadonlyMap<string, ProductRecord['tags'][number]>
  },
): ProductRecord {
  const idOf = (option: string) => stored.options.get(option) ?? option
  return {
    ...product,
    tags: product.tags.map((tag) => stored.tags.get(tag.id) ?? tag),
    options: product.options.map((option) => ({ ...option, id: idOf(option.id) })),
    variants: product.variants.map((variant) => ({
      ...variant,
      attributes: Object.fromEntries(Object.entries(variant.attributes).map(([id, value]) => [idOf(id), value])),
    })),
  }
}
