import { isAny } from '@backoffice/postgres/lists/conditions.ts'
import { pageOfIds } from '@backoffice/postgres/lists/found-page.ts'
import { sortedPage } from '@backoffice/postgres/lists/list-page.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { conditionsOf, listedProducts, ProductFilters } from './product-filters.ts'
import { listApi } from './testing/product-lists.ts'

const COUNT = 95
const { admin, db, create, list, names, seed } = await listApi()
const caller = aCaller()
await seed(aCaller(), COUNT)
await seed(caller, COUNT)

const COLUMNS = { createdAt: 'id', updatedAt: 'updated_at', name: 'name_words' } as const
const SORTS = ['createdAt', 'updatedAt', 'name'] as const
const ORDERS = ['asc', 'desc'] as const
const FILTERS = [
  '',
  'status=ACTIVE',
  'type=SIMPLE_PRODUCT',
  'category=tenth',
  'tag=tenth',
  'query=item+kind1',
  'updated_since=2026-01-01T20:00:00Z',
]

/** Ids in the full order, by a statement of the test's own. */
async function ordered(sort: keyof typeof COLUMNS, order: string): Promise<string[]> {
  const rows = await admin<{ id: string }[]>`
    select id from product where workspace_id = ${caller.workspaceId} order by ${admin(COLUMNS[sort])}, id`
  const ids = rows.map(({ id }) => id)
  return order === 'asc' ? ids : ids.reverse()
}

async function walk(query: string, size: number): Promise<string[]> {
  const ids: string[] = []
  for (let page = 1; ; page++) {
    const { items, has_next_page } = await list(caller, `${query}&page=${page}&limit=${size}`)
    ids.push(...items.map(({ id }) => id))
    if (!has_next_page) return ids
  }
}

it.each(SORTS.flatMap((sort) => ORDERS.map((order) => [sort, order] as const)))(
  'pages by %s %s follow each other without overlap or gap, from both halves, whatever the filter',
  async (sort, order) => {
    const all = await ordered(sort, order)
    for (const filter of FILTERS) {
      const query = `${filter}&sort_by=${sort}&sort_order=${order}`
      const members = new Set(await walk(filter, 100))
      expect(await walk(query, 10), query).toEqual(all.filter((id) => members.has(id)))
    }
    expect(await walk(`sort_by=${sort}&sort_order=${order}`, 7)).toEqual(all)
  },
)

it.each(FILTERS)('walking the order and finding all first come to the same page: %s', async (filter) => {
  const filters = ProductFilters.parse(Object.fromEntries(new URLSearchParams(filter)))
  const pages = (total: number) =>
    db.inWorkspace({ ...caller, traceparent: '' }, async (tx) => {
      const [first = isAny(tx, listedProducts(tx)), ...others] = await conditionsOf(tx, filters)
      const found: string[][] = []
      for (const sort of SORTS)
        for (const order of ORDERS)
          found.push(
            await pageOfIds(tx, listedProducts(tx), [first, ...others], total, {
              ...sortedPage({ sort_by: sort, sort_order: order, limit: 4 }),
              offset: 3,
            }),
          )
      return found
    })
  expect(await pages(1_000_000)).toEqual(await pages(8))
})

it('sorts by createdAt, newest first, unless told otherwise, and takes snake_case (OP-03)', async () => {
  const ids = async (query: string) => (await list(caller, `${query}&limit=100`)).items.map(({ id }) => id)
  expect(await ids('')).toEqual(await ordered('createdAt', 'desc'))
  expect(await ids('sort_order=asc')).toEqual(await ordered('createdAt', 'asc'))
  expect(await ids('sort_by=created_at')).toEqual(await ordered('createdAt', 'desc'))
  expect(await ids('sort_by=updated_at')).toEqual(await ordered('updatedAt', 'desc'))
})

it('has the products that are created one after the other in the order of created_at', async () => {
  const caller = aCaller()
  for (const name of ['b', 'c', 'a']) await create(caller, { name })
  const { items } = await list(caller, 'sort_order=asc')
  expect(items.map(({ name }) => name)).toEqual(['b', 'c', 'a'])
  expect(items).toEqual(items.toSorted((a, b) => a.created_at.localeCompare(b.created_at)))
})

it('sorts names without regard to case, accents and punctuation (OP-93)', async () => {
  const caller = aCaller()
  for (const name of ['Zebra', 'éclair', 'apple', '(Banana)', 'Éclair 2', 'DATE']) await create(caller, { name })
  expect(await names(caller, 'sort_by=name&sort_order=asc')).toEqual([
    'apple',
    '(Banana)',
    'DATE',
    'éclair',
    'Éclair 2',
    'Zebra',
  ])
})

it.each(['', 'category=tenth', 'query=item', 'sort_by=name&status=ACTIVE'])(
  'a page beyond the end has no items, and the totals of the list: %s',
  async (query) => {
    const { total } = await list(caller, query)
    const beyond = await list(caller, `${query}&page=1000000000&limit=100`)
    expect(beyond).toMatchObject({ total, items: [], has_next_page: false, has_previous_page: true })
  },
)
