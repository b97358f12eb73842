import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import type { pageView } from '@backoffice/contracts/pagination.ts'
import type { Tag } from '@backoffice/contracts/product.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describeWalks } from '@backoffice/testing/list-walk.ts'
import { expect, it } from 'vitest'
import { catalog } from '../categories/testing/categories-api.ts'

const { admin, contextOf, db, newProduct, send, takeStatements } = await catalog()
type PageOfTags = ReturnType<typeof pageView<Tag>>
const list = (caller: Caller, query = '') => send<PageOfTags & ErrorBody>(caller, 'GET', `/v1/tags${query}`)
const names = ({ items }: PageOfTags) => items.map(({ name }) => name)

it('is a page object of the workspace’s own tags by name, whatever its case (OP-03, OP-39)', async () => {
  const caller = aCaller()
  await newProduct(aCaller(), { tags: ['Foreign'] })
  await newProduct(caller, { tags: ['sale', 'New in', 'Gift', 'autumn'] })
  const { status, body } = await list(caller)
  expect([status, names(body)]).toEqual([200, ['autumn', 'Gift', 'New in', 'sale']])
  expect(body.items[2]).toEqual({ id: expect.any(String), name: 'New in', slug: 'new-in' })
  const page = await list(caller, '?page=2&limit=3')
  expect(page.body).toMatchObject({ page: 2, size: 3, total: 4, total_pages: 2, has_next_page: false })
  expect(names(page.body)).toEqual(['sale'])
})

it.each([
  ['ne', ['New in', 'Next']],
  ['NEW', ['New in']],
  ['é', ['Été']],
  ['ét', ['Été']],
  ['E\u0301t', ['Été']],
  ['100%25', ['100% wool']],
  ['%25', []],
  ['_', []],
  ['w', []],
])('finds names that begin with query, whatever their case (OP-39): %s', async (query, found) => {
  const caller = aCaller()
  await newProduct(caller, { tags: ['New in', 'Next', '100% wool', '1000', 'Été', 'Gift'] })
  const { body } = await list(caller, `?query=${query}`)
  expect([names(body), body.total]).toEqual([found, found.length])
})

it('finds them through the index (OP-39)', async () => {
  const caller = aCaller()
  await admin`
    insert into tag (workspace_id, id, name, slug)
    select ${caller.workspaceId}, gen_random_uuid(), 'Tag ' || number, 'tag-' || number from generate_series(1, 20000) number`
  await admin`analyze tag`
  takeStatements()
  expect((await list(caller, '?query=tag%2077')).body.total).toBe(111)
  const statement = takeStatements().find((text) => text.includes('order by')) ?? ''
  const plan = await db.inWorkspace(contextOf(caller), (tx) => tx.unsafe(`explain (generic_plan) ${statement}`))
  const text = plan.map((line) => line['QUERY PLAN']).join('\n')
  expect(text).toMatch(/Index Scan using tag_order[\s\S]*Index Cond: .*folded_name >=/)
  expect(text).not.toContain('Sort')
})

it.each([
  ['query', '?query='],
  ['query', `?query=${'x'.repeat(256)}`],
  ['query', '?query=a%00b'],
  ['page', '?page=one'],
  ['name', '?name=New'],
])('refuses a wrong %s with bad_request naming it (OP-09, OP-27): %s', async (path, query) => {
  const { status, body } = await list(aCaller(), query)
  expect([status, body.error.code]).toEqual([400, 'bad_request'])
  expect(body.error.message).toContain(`${path}: `)
})

it('needs the scope product::read (OP-04)', async () => {
  expect((await list(aCaller({ scopes: ['product::delete'] }))).status).toBe(403)
})

it('sends at most 6 statements', async () => {
  takeStatements()
  await list(aCaller(), '?query=new')
  expect(takeStatements().length).toBeLessThanOrEqual(6)
})

describeWalks('tags', {
  send,
  async list() {
    const [caller, other] = [aCaller(), aCaller()]
    const tags = Array.from({ length: 14 }, (_, index) => `Tag ${(index * 5) % 14}`)
    for (const names of [tags.slice(0, 7), tags.slice(7)]) await newProduct(caller, { tags: names })
    await newProduct(other, { tags: ['Foreign'] })
    let added = 0
    return {
      caller,
      path: '/v1/tags',
      foreign: (await list(other)).body.items[0]?.id ?? '',
      insert: () => newProduct(caller, { tags: [`New ${added++}`] }),
      change: async () => undefined, // Tags are never renamed (OP-39).
    }
  },
  filters: ['', 'query=tag+1'],
})
