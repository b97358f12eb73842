import type { Tag } from '@backoffice/contracts/product.ts'
import { slugify } from '@backoffice/contracts/slug.ts'
import type { NamedReference } from './references.ts'

/** The tags a product asks for by name. */
export interface TagChoice {
  /** Each once, in the order sent; tags are the same when their slugs are (OP-25). */
  readonly tags: readonly NamedReference[]
  /** The chosen tags in that order. */
  pick(found: readonly Tag[]): Tag[]
}

export function chooseTags(names: readonly string[]): TagChoice {
  const bySlug = new Map<string, NamedReference>()
  for (const name of names) {
    const slug = slugify(name, 'tag')
    if (!bySlug.has(slug)) bySlug.set(slug, { name, slug })
  }
  const tags = [...bySlug.values()]
  return {
    tags,
    pick(found) {
      const foundBySlug = new Map(found.map((tag) => [tag.slug, tag]))
      return tags.flatMap(({ slug }) => foundBySlug.get(slug) ?? [])
    },
  }
}
