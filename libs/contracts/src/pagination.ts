import { z } from 'zod'
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

/** The page a query asks for: 1-based `page`, `size` 20 unless given (OP-03). */
export function pageOf(query: PageQuery): { page: number; size: number; offset: number } {
  const page = query.page ?? 1
  const size = query.limit ?? query.size ?? 20
  return { page, size, offset: (page - 1) * size }
}

/**
 * The page object's shape (spec: Collections, List rules 5). A page of a named schema has a name too: `ProductPage`.
 */
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
