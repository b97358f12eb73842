import { expect, it } from 'vitest'
import { z } from 'zod'
import { ListQuery, listView, Page, PageQuery, pageOf, pageView } from './pagination.ts'

it.each([
  [{}, { page: 1, size: 20, offset: 0 }],
  [{ page: '3' }, { page: 3, size: 20, offset: 40 }],
  [
    { limit: '100', page: '2' },
    { page: 2, size: 100, offset: 100 },
  ],
  [
    { size: '7', page: '4' },
    { page: 4, size: 7, offset: 21 },
  ],
  [
    { limit: '5', size: '50' },
    { page: 1, size: 5, offset: 0 },
  ],
  [
    { page: '1000000000', limit: '100' },
    { page: 1_000_000_000, size: 100, offset: 99_999_999_900 },
  ],
])('the query %j asks for %j (OP-03)', (query, expected) => {
  expect(pageOf(PageQuery.parse(query))).toMatchObject({ ...expected, taken: expected.size })
})

it('after an item one more is taken, which says whether a page follows (OP-03)', () => {
  const query = ListQuery.parse({ page: '7', limit: '2', after: 'A0000000-0000-4000-8000-000000000000' })
  expect(pageOf(query)).toMatchObject({ page: 7, size: 2, offset: 0, taken: 3, after: query.after?.toLowerCase() })
  const members = { page: 7, size: 2, total: 9, total_pages: 5, has_previous_page: true }
  expect(listView(query, 9, ['a', 'b', 'c'])).toEqual({ ...members, has_next_page: true, items: ['a', 'b'] })
  expect(listView(query, 9, ['a', 'b'])).toEqual({ ...members, has_next_page: false, items: ['a', 'b'] })
  expect(listView(query, 9, ['a', 'b'], 3)).toEqual({ ...members, has_next_page: true, items: ['a', 'b'] })
  expect(PageQuery.safeParse({ after: query.after }).success).toBe(false)
})

it.each(['0', '-1', '+1', '1.0', ' 1', '1e2', '', 'abc', '101', '1'.repeat(40), '٣'])(
  'limit and size are no %j',
  (value) => {
    expect(PageQuery.safeParse({ limit: value }).success).toBe(false)
    expect(PageQuery.safeParse({ size: value }).success).toBe(false)
  },
)

it.each([
  [1, 20, 0, 0, false, false],
  [1, 20, 1, 1, false, false],
  [1, 20, 20, 1, false, false],
  [1, 20, 21, 2, true, false],
  [2, 20, 21, 2, false, true],
  [2, 20, 60, 3, true, true],
  [9, 20, 60, 3, false, true],
])('page %i of size %i over %i items: %i pages, next %s, previous %s', (page, size, total, pages, next, previous) => {
  expect(pageView(page, size, total, ['a'])).toEqual({
    page,
    size,
    total,
    total_pages: pages,
    has_next_page: next,
    has_previous_page: previous,
    items: ['a'],
  })
})

it('the page object has its seven members and no other (spec: List rules 5)', () => {
  const page = pageView(1, 20, 1, ['a'])
  const schema = Page(z.string())
  expect(schema.parse(page)).toEqual(page)
  expect(schema.safeParse({ ...page, cursor: 'b' }).success).toBe(false)
  expect(schema.safeParse({ ...page, items: [1] }).success).toBe(false)
})
