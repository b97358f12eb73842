import { type MemberPath, unprocessable } from '@backoffice/contracts/errors.ts'
import { isId } from '@backoffice/contracts/fields.ts'
import type { CategoryReference, Tag } from '@backoffice/contracts/product.ts'
import { slugify } from '@backoffice/contracts/slug.ts'
import { planMedia } from './plan-media.ts'
import type { UpdateProductBody } from './product-input.ts'
import type { MediaRecord, ProductRecord } from './product-view.ts'
import type { FoundReferences, NamedReference } from './references.ts'

/** Categories, tags and media of a product, resolved. */
export type ResolvedReferences = Pick<ProductRecord, 'categories' | 'tags' | 'media'>

type CategoryMembers = Pick<UpdateProductBody, 'category' | 'categories'>
type Members = CategoryMembers & Pick<UpdateProductBody, 'tags' | 'medias' | 'remove_medias'>

/**
 * The references that a product's input names. `pick` throws `unprocessable` naming the first reference that the
 * workspace, or the product with these media, does not have.
 */
export function chooseReferences(body: Members) {
  const { pick: pickCategories, ...categories } = chooseCategories(body)
  const { pick: pickTags, tags } = chooseTags(body.tags ?? [])
  return {
    wanted: { ...categories, tags, assetIds: (body.medias ?? []).flatMap(({ asset }) => asset ?? []) },
    pick: (found: FoundReferences, media: readonly MediaRecord[]): ResolvedReferences => ({
      categories: pickCategories(found.categories),
      tags: pickTags(found.tags),
      media: planMedia(media, body, found.assets),
    }),
  }
}

/**
 * The categories that a product's input names: `categories` wins over `category`. `pick` returns them in order, the
 * first primary, and throws `unprocessable` naming the first that the workspace does not have (spec: Create rules 3).
 */
export function chooseCategories({ category, categories }: CategoryMembers) {
  if (categories !== undefined) return chosenByReference(categories, (index) => ['categories', index])
  if (category?.id !== undefined) return chosenByReference([category.id], () => ['category', 'id'])
  const name = category?.name
  if (name === undefined) return chosenByReference([], () => [])
  return {
    categoryName: { name, slug: slugify(name, 'category') },
    pick: (found: readonly CategoryReference[]) => found.slice(0, 1),
  }
}

function chosenByReference(references: readonly string[], pathOf: (index: number) => MemberPath) {
  return {
    categoryIds: references.filter(isId),
    categorySlugs: references.filter((reference) => !isId(reference)),
    pick(found: readonly CategoryReference[]): CategoryReference[] {
      const byReference = new Map(found.flatMap((one) => [[one.id, one] as const, [one.slug, one] as const]))
      const picked = references.map((reference, index) => {
        const category = byReference.get(isId(reference) ? reference.toLowerCase() : reference)
        if (category === undefined) throw unprocessable(pathOf(index), `this workspace has no category "${reference}"`)
        return category
      })
      return [...new Set(picked)]
    },
  }
}

/** The tags that a product's input names, each once, in the order sent; equal slugs are one tag (OP-25). */
export function chooseTags(names: readonly string[]) {
  const bySlug = new Map<string, NamedReference>()
  for (const name of names) {
    const slug = slugify(name, 'tag')
    if (!bySlug.has(slug)) bySlug.set(slug, { name, slug })
  }
  const tags = [...bySlug.values()]
  return {
    tags,
    pick(found: readonly Tag[]): Tag[] {
      const foundBySlug = new Map(found.map((tag) => [tag.slug, tag]))
      return tags.flatMap(({ slug }) => foundBySlug.get(slug) ?? [])
    },
  }
}
