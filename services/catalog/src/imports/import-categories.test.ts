import { RowOutcomes } from '@backoffice/importing/row-outcomes.ts'
import { requestThrottle } from '@backoffice/importing/throttle.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { importCategories } from './import-categories.ts'
import { importsUnderTest } from './testing/applied-imports.ts'

const imports = await importsUnderTest()
const { outcomes, run, recordsOf } = imports

const categoriesOf = async ({ workspaceId }: Caller) => [
  ...(await imports.admin`
    select category.slug, category.name, parent.slug as parent, category.position
    from category left join category parent on parent.id = category.parent_id
    where category.workspace_id = ${workspaceId} order by category.id`),
]
async function refreshed(caller: Caller) {
  await imports.applyMemberChanges(caller)
  const rows = await imports.admin`
    select sku, is_change from product_refresh join variant using (workspace_id, product_id)
    where workspace_id = ${caller.workspaceId} order by sku`
  return rows.map((row) => ({ ...row }))
}

it('creates categories; a parent may come in an earlier row or an earlier batch', async () => {
  const caller = aCaller()
  await run(caller, 'categories', [{ slug: 'home', name: 'Home' }])
  const rows = [
    { slug: 'kitchen', name: 'Kitchen', parent: 'home', position: 3 },
    { slug: 'mugs', name: 'Mugs', parent: 'kitchen' },
  ]
  expect(await outcomes(caller, 'categories', rows)).toEqual(['created', 'created'])
  expect(await categoriesOf(caller)).toEqual([
    { slug: 'home', name: 'Home', parent: null, position: 0 },
    { slug: 'kitchen', name: 'Kitchen', parent: 'home', position: 3 },
    { slug: 'mugs', name: 'Mugs', parent: 'kitchen', position: 0 },
  ])
  expect(await recordsOf(caller)).toEqual([])
})

it('sets what a row gives and leaves the rest; what changes nothing counts as updated', async () => {
  const caller = aCaller()
  await run(caller, 'categories', [
    { slug: 'home', name: 'Home', position: 1 },
    { slug: 'mugs', name: 'Mugs', parent: 'home', position: 2 },
  ])
  const rows = [{ slug: 'mugs', name: 'Cups' }, { slug: 'home' }]
  expect(await outcomes(caller, 'categories', rows)).toEqual(['updated', 'updated'])
  expect(await categoriesOf(caller)).toEqual([
    { slug: 'home', name: 'Home', parent: null, position: 1 },
    { slug: 'mugs', name: 'Cups', parent: 'home', position: 2 },
  ])
})

it('has products that show a changed category published anew, and no others (OP-37)', async () => {
  const caller = aCaller()
  const all = ['renamed', 'moved', 'repositioned', 'same'].map((slug) => ({ slug, name: slug }))
  await run(caller, 'categories', all)
  await run(
    caller,
    'products',
    all.map(({ slug }) => ({ sku: slug, name: slug, stock: 1, categories: [slug] })),
  )
  const rows = [
    { slug: 'renamed', name: 'New' },
    { slug: 'moved', parent: 'same' },
    { slug: 'repositioned', position: 9 },
    { slug: 'same', name: 'same' },
  ]
  expect(await outcomes(caller, 'categories', rows)).toEqual(Array(4).fill('updated'))
  expect(await refreshed(caller)).toEqual([
    { sku: 'moved', is_change: false },
    { sku: 'renamed', is_change: false },
  ])
})

describe('a bad row fails alone, with its reason', () => {
  it.each([
    ['a new category without a name', { slug: 'new' }, 'name bad_request: is required for a new category'],
    [
      'an unknown parent',
      { slug: 'new', name: 'N', parent: 'none' },
      'parent unprocessable: this workspace has no category "none"',
    ],
    [
      'another workspace’s parent',
      { slug: 'new', name: 'N', parent: 'foreign' },
      'parent unprocessable: this workspace has no category "foreign"',
    ],
    [
      'a parent that comes in a later row',
      { slug: 'new', name: 'N', parent: 'last' },
      'parent unprocessable: this workspace has no category "last"',
    ],
    [
      'itself as parent',
      { slug: 'a', parent: 'a' },
      'parent unprocessable: must be neither the category itself nor one below it',
    ],
    [
      'a parent below it',
      { slug: 'a', parent: 'c' },
      'parent unprocessable: must be neither the category itself nor one below it',
    ],
    [
      'a parent that an earlier row moved below it',
      { slug: 'a', parent: 'd' },
      'parent unprocessable: must be neither the category itself nor one below it',
    ],
    ['a slug that an earlier row has', { slug: 'd', name: 'D' }, 'slug duplicate: row 2 has it already'],
    [
      'a slug that looks like an id',
      { slug: '0198c7a0-0000-7000-8000-000000000001', name: 'N' },
      'slug bad_request: must not look like a UUID',
    ],
    ['a position that is no integer', { slug: 'a', position: 1.5 }, 'position bad_request: must be a whole number'],
  ])('%s', async (_, bad, reason) => {
    const [caller, other] = [aCaller(), aCaller()]
    await run(other, 'categories', [{ slug: 'foreign', name: 'Foreign' }])
    await run(caller, 'categories', [
      { slug: 'a', name: 'A' },
      { slug: 'b', name: 'B', parent: 'a' },
      { slug: 'c', name: 'C', parent: 'b' },
      { slug: 'd', name: 'D' },
    ])
    const before = await categoriesOf(caller)
    const rows = [{ slug: 'd', parent: 'c' }, bad, { slug: 'last', name: 'Last' }]
    expect(await outcomes(caller, 'categories', rows)).toEqual(['updated', reason, 'created'])
    expect(await categoriesOf(caller)).toEqual([
      ...before.map((row) => (row.slug === 'd' ? { ...row, parent: 'c' } : row)),
      { slug: 'last', name: 'Last', parent: null, position: 0 },
    ])
  })
})

it('makes no cycle through a category that an earlier row creates', async () => {
  const caller = aCaller()
  await run(caller, 'categories', [
    { slug: 'a', name: 'A' },
    { slug: 'b', name: 'B', parent: 'a' },
    { slug: 'c', name: 'C', parent: 'b' },
  ])
  const rows = [
    { slug: 'new', name: 'New', parent: 'c' },
    { slug: 'a', parent: 'new' },
  ]
  expect(await outcomes(caller, 'categories', rows)).toEqual([
    'created',
    'parent unprocessable: must be neither the category itself nor one below it',
  ])
})

it('plans only the categories that rows name, however many are above them', async () => {
  const caller = aCaller()
  const chain = Array.from({ length: 20 }, (_, n) => ({
    slug: `c${n}`,
    name: `C${n}`,
    ...(n > 0 && { parent: `c${n - 1}` }),
  }))
  await run(caller, 'categories', chain)
  const rows = [
    { slug: 'c19', name: 'Last' },
    { slug: 'c9', parent: 'c7' },
  ]
  const batch = { product_statuses: [], rows: rows.map((values, row) => ({ row, values })), isCheck: true, earlier: [] }
  const planned: string[] = []
  await imports.db.inWorkspace({ ...caller, traceparent: '' }, async (tx) => {
    const plan = importCategories.plan(tx, batch, new RowOutcomes(requestThrottle()), new Date())
    for await (const { after } of plan) planned.push(...after.map(({ slug }) => slug))
  })
  expect(planned.toSorted()).toEqual(['c19', 'c7', 'c9'])
})

it('makes no cycle of two batches that come at once', async () => {
  const caller = aCaller()
  for (let round = 0; round < 10; round++) {
    const [a, b] = [`a${round}`, `b${round}`]
    await run(
      caller,
      'categories',
      [a, b].map((slug) => ({ slug, name: slug })),
    )
    const results = await Promise.all([
      outcomes(caller, 'categories', [{ slug: a, parent: b }]),
      outcomes(caller, 'categories', [{ slug: b, parent: a }]),
    ])
    expect(results.flat().toSorted()).toEqual([
      'parent unprocessable: must be neither the category itself nor one below it',
      'updated',
    ])
  }
})

it.each([1, 500])('takes at most 20 statements for %i rows', async (count) => {
  const caller = aCaller()
  const rows = (name: string) =>
    Array.from({ length: count }, (_, index) => ({
      slug: `category-${index}`,
      name: `${name} ${index}`,
      ...(index > 0 && { parent: `category-${Math.floor(index / 2)}` }),
    }))
  for (const name of ['First', 'Then']) {
    imports.takeStatements()
    const results = await outcomes(caller, 'categories', rows(name))
    expect(imports.takeStatements().length).toBeLessThanOrEqual(18)
    expect(new Set(results)).toEqual(new Set([name === 'First' ? 'created' : 'updated']))
  }
})
