import { isId } from '@backoffice/contracts/fields.ts'
import { slugify } from '@backoffice/contracts/slug.ts'
import type { NumberedSlugs } from '@backoffice/postgres/slug-families.ts'

export const CATEGORY_SLUGS: NumberedSlugs = { table: 'category', lockPrefix: (workspace) => `${workspace} category ` }

/** The slug that a category's name gives, before it is made unique: one that `CategorySlug` takes (OP-38). */
export function categorySlugOf(name: string): string {
  const slug = slugify(name, 'category')
  return isId(slug) ? `category-${slug}` : slug
}
