import { randomUUID } from 'node:crypto'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { importsUnderTest } from './testing/applied-imports.ts'

const imports = await importsUnderTest()
const { admin, productOf, run, send, undone } = imports

async function applied(caller: Caller, ...batches: object[][]) {
  const importId = randomUUID()
  for (const [batch, rows] of batches.entries()) await run(caller, 'categories', rows, { importId, batch })
  return importId
}

/** Slug → name, slug of the parent and position. */
async function treeOf({ workspaceId }: Caller) {
  const rows = await admin<{ slug: string; shown: string }[]>`
    select category.slug, concat_ws(' ', category.name, parent.slug, category.position) as shown
    from category left join category as parent on parent.workspace_id = category.workspace_id and parent.id = category.parent_id
    where category.workspace_id = ${workspaceId} order by category.slug`
  return Object.fromEntries(rows.map(({ slug, shown }) => [slug, shown]))
}

const add = async (caller: Caller, name: string, parent?: string) =>
  (await send<{ id: string }>(caller, 'POST', '/v1/categories', { name, ...(parent && { parent }) })).body.id

it('deletes what the import created, children first, and puts back what it updated (OP-151)', async () => {
  const caller = aCaller()
  const home = await add(caller, 'Home')
  await add(caller, 'Mugs', home)
  const before = await treeOf(caller)
  const id = await applied(
    caller,
    [
      { slug: 'new', name: 'New', position: 3 },
      { slug: 'below', name: 'Below', parent: 'new' },
    ],
    [{ slug: 'mugs', name: 'Cups', parent: 'below', position: 8 }],
    [{ slug: 'home', parent: 'new' }],
  )
  expect(await undone(caller, 'categories', id)).toEqual({ deleted: 2, restored: 2, kept: 0, rows: [], is_done: true })
  expect(await treeOf(caller)).toEqual(before)
})

it('publishes the products of a category that gets its former name (OP-37)', async () => {
  const caller = aCaller()
  await add(caller, 'Home')
  await run(caller, 'products', [{ sku: 'MUG', name: 'Mug', stock: 1, categories: ['home'] }])
  const id = await applied(caller, [{ slug: 'home', name: 'Kitchen' }])
  expect((await productOf(caller, 'MUG')).category).toBe('Kitchen')
  await imports.applyMemberChanges(caller)
  await admin`delete from product_refresh where workspace_id = ${caller.workspaceId}`
  await undone(caller, 'categories', id)
  await imports.applyMemberChanges(caller)
  expect((await productOf(caller, 'MUG')).category).toBe('Home')
  expect(await admin`select from product_refresh where workspace_id = ${caller.workspaceId}`).toHaveLength(1)
})

it('keeps a created category that has products or categories now, with the ones above it, and a changed one', async () => {
  const caller = aCaller()
  const id = await applied(caller, [
    { slug: 'a', name: 'A' },
    { slug: 'b', name: 'B', parent: 'a' },
    { slug: 'c', name: 'C' },
    { slug: 'd', name: 'D' },
    { slug: 'e', name: 'E' },
  ])
  await run(caller, 'products', [{ sku: 'MUG', name: 'Mug', stock: 1, categories: ['b'] }])
  const [c, d] = await Promise.all(
    ['c', 'd'].map(async (slug) => {
      const [row] = await admin`select id from category where workspace_id = ${caller.workspaceId} and slug = ${slug}`
      return row?.id
    }),
  )
  await add(caller, 'Mine', c)
  await send(caller, 'PUT', `/v1/categories/${d}`, { name: 'Changed' })
  const used = 'has products or categories below it'
  expect(await undone(caller, 'categories', id)).toMatchObject({
    deleted: 1,
    kept: 4,
    rows: [
      { key: 'd', reason: 'was changed since the import' },
      { key: 'c', reason: used },
      { key: 'b', reason: used },
      { key: 'a', reason: used },
    ],
  })
})

it('keeps a category whose former parent was deleted or is below it now', async () => {
  const caller = aCaller()
  const parent = await add(caller, 'Parent')
  await add(caller, 'Child', parent)
  const gone = await add(caller, 'Gone')
  await add(caller, 'Other', gone)
  await add(caller, 'Root')
  const id = await applied(caller, [
    { slug: 'child', parent: 'root' },
    { slug: 'other', parent: 'root' },
  ])
  await send(caller, 'DELETE', `/v1/categories/${gone}`)
  const [child] = await admin`select id from category where workspace_id = ${caller.workspaceId} and slug = 'child'`
  await send(caller, 'PUT', `/v1/categories/${parent}`, { parent: child?.id })
  const { kept, rows } = await undone(caller, 'categories', id)
  expect([kept, rows]).toEqual([
    2,
    [
      { key: 'other', reason: 'its former parent was deleted since the import' },
      { key: 'child', reason: 'its former parent is below it now' },
    ],
  ])
})

it('gives a category its former name also where one above it cannot go back', async () => {
  const caller = aCaller()
  const top = await add(caller, 'Top')
  const between = await add(caller, 'Between', await add(caller, 'Moved', top))
  await add(caller, 'Root')
  const id = await applied(caller, [
    { slug: 'moved', parent: 'root' },
    { slug: 'between', name: 'Renamed' },
  ])
  await send(caller, 'PUT', `/v1/categories/${top}`, { parent: between })
  const { restored, rows } = await undone(caller, 'categories', id)
  expect([restored, rows]).toEqual([1, [{ key: 'moved', reason: 'its former parent is below it now' }]])
  expect(await treeOf(caller)).toMatchObject({ moved: 'Moved root 0', between: 'Between moved 0' })
})
