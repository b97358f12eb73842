import { type MemberPath, unprocessable } from '@backoffice/contracts/errors.ts'
import { isId } from '@backoffice/contracts/fields.ts'
import type { CategoryReference, Tag } from '@backoffice/contracts/product.ts'
import { slugify } from '@backoffice/contracts/slug.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { categorySlugOf } from './category-slug.ts'
import { planMedia } from './plan-media.ts'
import type { UpdateProductBody } from './product-input.ts'
import type { MediaRecord, ProductRecord } from './product-view.ts'
import {
  categoryCalled,
  type FoundReferences,
  foldedName,
  type NamedReference,
  type WantedReferences,
} from './references.ts'

/** Categories, tags and media of a product, resolved. */
export type ResolvedReferences = Pick<ProductRecord, 'categories' | 'tags' | 'media'>

type CategoryMembers = Pick<UpdateProductBody, 'category' | 'categories'>
type Members = CategoryMembers &
  Pick<UpdateProductBody, 'tags' | 'medias' | 'remove_medias'> & {
    readonly options?: readonly { readonly name: string }[] | null | undefined
  }

/** The references that a product's input names. */
export function referencesIn(body: Members): Required<WantedReferences> {
  const categories = categoriesIn(body).map(({ reference }) => reference)
  return {
    options: (body.options ?? []).map(({ name }) => name),
    categoryIds: categories.filter(isId),
    categorySlugs: categories.filter((reference) => !isId(reference)),
    categoryNames: [categoryNameIn(body) ?? []].flat(),
    tags: tagsIn(body.tags),
    assetIds: (body.medias ?? []).flatMap(({ asset }) => asset ?? []),
  }
}

/**
 * These references, as they were found. Throws `unprocessable` naming the first that the workspace, or the product with
 * these media, does not have.
 */
export const pickReferences = (
  body: Members,
  found: FoundReferences,
  media: readonly MediaRecord[],
): ResolvedReferences => ({
  categories: pickCategories(body, found.categories),
  tags: pickTags(tagsIn(body.tags), tagsByName(found.tags)),
  media: planMedia(media, body, found.assets),
})

/** The categories by id or slug, the first primary; `categories` wins over `category` (spec: Create rules 3). */
function categoriesIn({ category, categories }: CategoryMembers): { reference: string; path: MemberPath }[] {
  if (categories) return categories.map((reference, index) => ({ reference, path: ['categories', index] }))
  return category?.id === undefined ? [] : [{ reference: category.id, path: ['category', 'id'] }]
}

/** The legacy category by name, where nothing else names one. */
function categoryNameIn({ category, categories }: CategoryMembers): NamedReference | undefined {
  if (categories || category?.id !== undefined || category?.name === undefined) return undefined
  return { name: category.name, slug: categorySlugOf(category.name) }
}

/** Throws `unprocessable` naming the first category that the workspace does not have. */
export function pickCategories(body: CategoryMembers, found: readonly CategoryReference[]): CategoryReference[] {
  const named = categoryNameIn(body)
  if (named) return [categoryCalled(named, found) ?? []].flat()
  const byReference = new Map(found.flatMap((one) => [[one.id, one] as const, [one.slug, one] as const]))
  const picked = categoriesIn(body).map(({ reference, path }) => {
    const category = byReference.get(isId(reference) ? reference.toLowerCase() : reference)
    if (category === undefined)
      throw unprocessable(path, `this workspace has no category "${reference}"`, 'unknown_reference')
    return category
  })
  return [...new Set(picked)]
}

/** The tags, each once, in the order sent; equal names are one tag (OP-25). */
export const tagsIn = (names: readonly string[] = []): NamedReference[] => [
  ...firstBy(
    names.map((name) => ({ name, slug: slugify(name, 'tag') })),
    (tag) => [foldedName(tag)],
  ).values(),
]

export const tagsByName = (tags: readonly Tag[]): ReadonlyMap<string, Tag> => firstBy(tags, (tag) => [foldedName(tag)])

export const pickTags = (tags: readonly NamedReference[], byName: ReadonlyMap<string, Tag>): Tag[] =>
  tags.flatMap((tag) => byName.get(foldedName(tag)) ?? [])

/** Of the references of many products, those that one names: what picks them looks at no others. */
export function sharedReferences(found: FoundReferences): (body: Members) => FoundReferences {
  const [options, tags, assets] = [
    firstBy(found.options, ({ name }) => [name]),
    tagsByName(found.tags),
    firstBy(found.assets, ({ id }) => [id]),
  ]
  // No slug has a space.
  const named = (category: NamedReference) => [`name ${category.name}`, `folded ${foldedName(category)}`]
  const categories = firstBy(found.categories, (category) => [category.id, category.slug, ...named(category)])
  return (body) => {
    const wanted = referencesIn(body)
    const names = wanted.categoryNames.flatMap(named)
    const ids = wanted.categoryIds.map((id) => id.toLowerCase())
    return {
      options: wanted.options.flatMap((name) => options.get(name) ?? []),
      categories: [...ids, ...wanted.categorySlugs, ...names].flatMap((key) => categories.get(key) ?? []),
      tags: pickTags(wanted.tags, tags),
      assets: wanted.assetIds.flatMap((id) => assets.get(id) ?? []),
    }
  }
}

/** With what is missing of the references that a body names, as it would be created. */
export function withMissing(body: Members, found: FoundReferences): FoundReferences {
  const { options, categoryNames, tags } = referencesIn(body)
  const made = (named: NamedReference) => ({ id: newId(), ...named })
  return {
    ...found,
    options: [...found.options, ...options.map((name) => ({ id: newId(), name }))],
    categories: [
      ...found.categories,
      ...categoryNames.map((named) => ({ ...made(named), parent: null, parent_slug: null })),
    ],
    tags: [...found.tags, ...tags.map(made)],
  }
}

function firstBy<Item>(items: readonly Item[], keysOf: (item: Item) => readonly string[]): ReadonlyMap<string, Item> {
  const first = new Map<string, Item>()
  for (const item of items) for (const key of keysOf(item)) if (!first.has(key)) first.set(key, item)
  return first
}
