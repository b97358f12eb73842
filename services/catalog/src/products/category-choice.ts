import { unprocessable } from '@backoffice/contracts/errors.ts'
import { isId } from '@backoffice/contracts/fields.ts'
import type { CategoryReference } from '@backoffice/contracts/product.ts'
import { slugify } from '@backoffice/contracts/slug.ts'
import type { NamedReference } from './references.ts'

interface CategoryMembers {
  readonly category?: { id?: string | undefined; name?: string | undefined } | null | undefined
  readonly categories?: readonly string[] | undefined
}

/** The categories a product asks for: `categories` wins over `category` (spec: Create rules 3). */
export interface CategoryChoice {
  readonly categoryIds: readonly string[]
  readonly categorySlugs: readonly string[]
  readonly categoryName: NamedReference | undefined
  /**
   * The chosen categories in order, the first primary. Throws `unprocessable` naming the first that the workspace does not
   * have (spec: Create rules 3).
   */
  pick(found: readonly CategoryReference[]): CategoryReference[]
}

export function chooseCategories({ category, categories }: CategoryMembers): CategoryChoice {
  if (categories !== undefined) return chosenByReference(categories, (index) => `categories[${index}]`)
  if (category?.id !== undefined) return chosenByReference([category.id], () => 'category.id')
  const name = category?.name
  if (name === undefined) return chosenByReference([], String)
  return {
    categoryIds: [],
    categorySlugs: [],
    categoryName: { name, slug: slugify(name, 'category') },
    pick: (found) => found.slice(0, 1),
  }
}

function chosenByReference(references: readonly string[], pathOf: (index: number) => string): CategoryChoice {
  return {
    categoryIds: references.filter(isId),
    categorySlugs: references.filter((reference) => !isId(reference)),
    categoryName: undefined,
    pick(found) {
      const byReference = new Map(found.flatMap((one) => [[one.id, one] as const, [one.slug, one] as const]))
      const picked = references.map((reference, index) => {
        const category = byReference.get(isId(reference) ? reference.toLowerCase() : reference)
        if (category === undefined)
          throw unprocessable(`${pathOf(index)}: this workspace has no category "${reference}"`)
        return category
      })
      return [...new Set(picked)]
    },
  }
}
