import { randomUUID } from 'node:crypto'
import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import type { pageView } from '@backoffice/contracts/pagination.ts'
import type { Category } from '@backoffice/contracts/product.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describeWalks } from '@backoffice/testing/list-walk.ts'
import { expect, it } from 'vitest'
import { catalog } from './testing/categories-api.ts'

const { admin, contextOf, db, newCategory, send, takeStatements } = await catalog()
type PageOfCategories = ReturnType<typeof pageView<Category>>
const list = (caller: Caller, query = '') => send<PageOfCategories & ErrorBody>(caller, 'GET', `/v1/categories${query}`)
const names = ({ items }: PageOfCategories) => items.map(({ name }) => name)

it('is a page object of the workspace’s own categories, by position, then name (OP-03, OP-38)', async () => {
  const caller = aCaller()
  await newCategory(aCaller(), { name: 'Foreign' })
  for (const [name, position] of [
    ['Last', 2],
    ['Beta', 1],
    ['Alpha', 1],
    ['First', undefined],
  ]) {
    await newCategory(caller, { name, position })
  }
  const { status, body } = await list(caller)
  expect([status, names(body)]).toEqual([200, ['First', 'Alpha', 'Beta', 'Last']])
  const page = await list(caller, '?page=2&limit=3')
  expect(page.body).toMatchObject({ page: 2, size: 3, total: 4, total_pages: 2, has_previous_page: true })
  expect(page.body.items).toEqual([body.items[3]])
})

it('shows each category exactly as it was answered when made', async () => {
  const caller = aCaller()
  const root = await newCategory(caller, { name: 'Kitchen' })
  const child = await newCategory(caller, { parent: root.id, position: 3 })
  expect((await list(caller)).body.items).toEqual([root, child])
})

it('filters by parent, none being the roots, and by slug', async () => {
  const caller = aCaller()
  const root = await newCategory(caller, { name: 'Kitchen' })
  await newCategory(caller, { name: 'Cups', parent: root.id })
  await newCategory(caller, { name: 'Plates', parent: root.id })
  expect(names((await list(caller, `?parent=${root.id}`)).body)).toEqual(['Cups', 'Plates'])
  expect(names((await list(caller, '?parent=none')).body)).toEqual(['Kitchen'])
  expect(names((await list(caller, `?slug=plates&parent=${root.id}`)).body)).toEqual(['Plates'])
  expect((await list(caller, `?slug=plates&parent=none`)).body).toMatchObject({ total: 0, items: [] })
  expect((await list(caller, `?parent=${randomUUID()}`)).body).toMatchObject({ total: 0, items: [] })
  expect(names((await list(caller, `?parent=${root.id.toUpperCase()}`)).body)).toEqual(['Cups', 'Plates'])
  for (const parent of ['NONE', '', 'kitchen'])
    expect(await list(caller, `?parent=${parent}`)).toMatchObject({
      status: 400,
      body: { error: { message: 'parent: must be a UUID, or none for the roots' } },
    })
})

it('reads a page of many through an index, in its order, of all and of one parent', async () => {
  const caller = aCaller()
  const parents = []
  for (let index = 0; index < 20; index++) parents.push((await newCategory(caller)).id)
  await admin`
    insert into category (workspace_id, id, name, slug, parent_id, created_at, updated_at)
    select ${caller.workspaceId}, gen_random_uuid(), 'Mugs ' || number, 'mugs-' || number,
      (${parents}::uuid[])[1 + number % 20], now(), now()
    from generate_series(1, 20000) number`
  await admin`analyze category`
  for (const [query, index, total] of [
    ['', 'category_order', 20_020],
    [`?parent=${parents[7]}`, 'category_children', 1000],
  ] as const) {
    takeStatements()
    expect((await list(caller, query)).body.total).toBe(total)
    const statement = takeStatements().find((text) => text.includes('order by')) ?? ''
    const plan = await db.inWorkspace(contextOf(caller), (tx) => tx.unsafe(`explain (generic_plan) ${statement}`))
    const text = plan.map((line) => line['QUERY PLAN']).join('\n')
    expect(text).toContain(`using ${index}`)
    expect(text).not.toContain('Sort')
  }
})

it.each([
  ['parent', '?parent=kitchen'],
  ['slug', '?slug='],
  ['page', '?page=0'],
  ['limit', '?limit=101'],
  ['order', '?order=name'],
])('refuses a wrong %s with bad_request naming it (OP-09, OP-27): %s', async (path, query) => {
  const { status, body } = await list(aCaller(), query)
  expect([status, body.error.code]).toEqual([400, 'bad_request'])
  expect(body.error.message).toContain(`${path}: `)
})

it('needs the scope product::read (OP-04)', async () => {
  expect((await list(aCaller({ scopes: ['product::create'] }))).status).toBe(403)
})

it('sends at most 6 statements', async () => {
  takeStatements()
  await list(aCaller(), '?parent=none')
  expect(takeStatements().length).toBeLessThanOrEqual(6)
})

describeWalks('categories', {
  send,
  async list() {
    const caller = aCaller()
    for (let n = 0; n < 14; n++) await newCategory(caller, { name: `Category ${(n * 5) % 14}`, position: n % 3 })
    return {
      caller,
      path: '/v1/categories',
      foreign: (await newCategory(aCaller())).id,
      insert: () => newCategory(caller),
      change: (id) => admin`update category set position = (position + 1) % 3 where id = ${id}`,
    }
  },
  fixed: [],
  moving: [''],
  filters: ['', 'parent=none'],
})
