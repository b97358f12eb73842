import { z } from 'zod'
import { Id } from './fields.ts'
import { LIMITS } from './limits.ts'
import { exampleOf, named } from './named.ts'

const wholeNumber = (max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be an integer from 1 to ${max}`)
    .transform(Number)
    .refine((value) => value >= 1 && value <= max, `must be an integer from 1 to ${max}`)
    .meta({ type: 'integer', minimum: 1, maximum: max })

const MAX_PAGE = 1_000_000_000

/** `page` and `limit` (or `size`) of a list (OP-03). */
export const PageQuery = z.strictObject({
  page: wholeNumber(MAX_PAGE).optional(),
  limit: wholeNumber(100).optional(),
  size: wholeNumber(100).optional(),
})
export type PageQuery = z.output<typeof PageQuery>

/** The parameters of a list that also takes `after`, the id of the last item of the page before (OP-03). */
export const ListQuery = PageQuery.extend({ after: Id.optional() })
export type ListQuery = z.output<typeof ListQuery>

const TIMES = ['createdAt', 'created_at', 'updatedAt', 'updated_at'] as const

/** `sort_by`, with its times in both spellings, and `sort_order` of a list (OP-03). */
export const SortedByTime = {
  sort_by: z.enum(TIMES).default('createdAt'),
  sort_order: z.enum(['asc', 'desc']).default('desc'),
}
export const SortedByTimeOrName = { ...SortedByTime, sort_by: z.enum([...TIMES, 'name']).default('createdAt') }

const MAX_WORDS = 10

/** The filter `query` of a list: words to search for (OP-92). */
export const Words = z
  .string()
  .min(1)
  .max(LIMITS.nameLength)
  // U+037A, a letter, becomes a space with an accent, which searches ignore: everything would be found.
  .normalize('NFKC')
  .regex(/[\p{L}\p{N}]/u, 'must hold a letter or a digit')
  .refine(
    (text) => text.split(/[^\p{L}\p{M}\p{N}]+/u).filter(Boolean).length <= MAX_WORDS,
    `must have at most ${MAX_WORDS} words`,
  )

/**
 * What a query asks for: 1-based `page`, `size` 20 unless given. After an item, one more is `taken`: another page
 * follows if it is there.
 */
export function pageOf({ page = 1, after, ...query }: ListQuery) {
  const size = query.limit ?? query.size ?? 20
  return after === undefined
    ? { page, size, after, offset: (page - 1) * size, taken: size }
    : { page, size, after, offset: 0, taken: size + 1 }
}

/** The page object of what was found for a query, of so many items that were `located` before some were gone. */
export function listView<Item>(
  query: ListQuery,
  total: number,
  found: readonly Item[],
  located: number = found.length,
) {
  const { page, size, after } = pageOf(query)
  const view = pageView(page, size, total, found.slice(0, size))
  return after === undefined ? view : { ...view, has_next_page: located > size, has_previous_page: true }
}

/** The page object's shape (spec: Collections, List rules 5). A page of a named schema has a name: `ProductPage`. */
export function Page<Item extends z.ZodType>(item: Item) {
  const page = z.strictObject({
    page: z.int(),
    size: z.int(),
    total: z.int(),
    total_pages: z.int(),
    has_next_page: z.boolean(),
    has_previous_page: z.boolean(),
    items: z.array(item),
  })
  const name = z.globalRegistry.get(item)?.id
  if (name === undefined) return page
  const example = exampleOf(item)
  return named(`${name}Page`, page, example && pageView(1, 20, 1, [example]))
}

/** Builds the page object (spec: Collections, List rules 5). */
export function pageView<Item>(page: number, size: number, total: number, items: Item[]) {
  const totalPages = Math.ceil(total / size)
  return {
    page,
    size,
    total,
    total_pages: totalPages,
    has_next_page: page < totalPages,
    has_previous_page: page > 1,
    items,
  }
}
