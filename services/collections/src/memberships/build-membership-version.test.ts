import type { ProductState } from '@backoffice/contracts/product-records.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { describe, expect, it } from 'vitest'
import { rebuildMemberships } from '../products/rebuild-memberships.ts'
import { aProductState, collectionsService } from '../testing/collections-api.ts'
import { buildChunk } from './build-membership-version.ts'
import { lockMembershipsExclusive } from './membership-lock.ts'

const { admin, worker, send, create, project, productsOf, membershipDifferences } = await collectionsService()
await admin`create table topic_product (id uuid)`
await admin`grant select on topic_product to collections_worker`

const inStock = { match: 'all', conditions: [{ field: 'stock', operator: 'gte', value: 5 }] }
let caller: Caller
let collection: { id: string }
let states: ProductState[]

/** The first chunk ends with C: B is before its end, C is its last product, D comes after it. */
const FIRST = 3
const [B, C, D] = [1, 2, 3]

/** Creates a collection with the products A to F and builds the first chunk of a new version. */
async function startBuild(stock: number, type: object): Promise<void> {
  caller = aCaller()
  states = [...'ABCDEF'].map((name) => aProductState({ name, total_stock: stock }))
  await project(caller, ...states)
  collection = await create(caller, { sort_order: 'TITLE_ASC', ...type })
  const ids = states.map(({ id }) => id)
  if (!('rules' in type)) await send(caller, 'POST', `/v1/collections/${collection.id}/products`, { products: ids })
  await rebuildMemberships(worker.sql)
  await build(FIRST)
  expect(await membershipDifferences(caller)).toEqual([])
}

const smart = { membership_type: 'SMART', rules: inStock }

/** Builds a chunk of `size` products; `before` runs before the commit. */
const build = (size: number, before = async () => {}): Promise<void> =>
  inTransaction(worker.sql, async (tx) => {
    await lockMembershipsExclusive(tx, caller.workspaceId)
    await buildChunk(tx, caller.workspaceId, size)
    await before()
  })

const change = (index: number, differences: Partial<ProductState>) => {
  const state = states[index] as ProductState
  return project(caller, { ...state, version: state.version + 1, ...differences })
}

/** The names of the members of the BUILDING version. */
const built = async (): Promise<string> =>
  (
    await admin<{ name: string }[]>`
      select upper(name) as name from membership_version join collection_member on version_number = number join product on product.id = product_id
      where collection_id = ${collection.id} and state = 'BUILDING' order by name`
  )
    .map(({ name }) => name)
    .join('')

const shown = async () => (await productsOf(caller, collection)).join('')

describe('A product that changes during a build, before, at and after the end of the first chunk', () => {
  it('becomes a member by the change up to processed_to, and by the builder after it', async () => {
    await startBuild(0, smart)
    for (const index of [B, C, D]) await change(index, { total_stock: 5 })
    expect([await built(), await shown()]).toEqual(['BC', 'BCD'])
    expect(await membershipDifferences(caller)).toEqual([])
    await build(100)
    expect(await shown()).toBe('BCD')
    expect(await membershipDifferences(caller)).toEqual([])
  })

  it('leaves', async () => {
    await startBuild(5, smart)
    for (const index of [B, C, D]) await change(index, { total_stock: 0 })
    expect([await built(), await shown()]).toEqual(['A', 'AEF'])
    await build(100)
    expect(await shown()).toBe('AEF')
    expect(await membershipDifferences(caller)).toEqual([])
  })

  it.each([
    ['member by rules', smart],
    ['hand-picked', {}],
  ])('moves, is hidden and is deleted, %s', async (_, type) => {
    await startBuild(5, type)
    for (const index of [B, C, D]) await change(index, { name: `Z${index}` })
    for (const index of [B, C, D]) await change(index, { name: `Z${index}`, status: 'HIDDEN', version: 3 })
    expect(await membershipDifferences(caller)).toEqual([])
    for (const index of [B, C, D]) await project(caller, states[index]?.id ?? '')
    expect([await built(), await shown()]).toEqual(['A', 'AEF'])
    await build(100)
    expect(await shown()).toBe('AEF')
    expect(await membershipDifferences(caller)).toEqual([])
  })

  it('is added by hand: the call or the builder inserts the member', async () => {
    await startBuild(5, {})
    const path = `/v1/collections/${collection.id}/products`
    const products = [B, C, D].map((index) => states[index]?.id)
    expect((await send(caller, 'DELETE', path, { products })).status).toBe(204)
    expect((await send(caller, 'POST', path, { products })).status).toBe(204)
    expect([await built(), await shown()]).toEqual(['ABC', 'ABCDEF'])
    expect(await membershipDifferences(caller)).toEqual([])
    await build(100)
    expect(await shown()).toBe('ABCDEF')
    expect(await membershipDifferences(caller)).toEqual([])
  })

  it('waits for a chunk in progress and then reads its processed_to', async () => {
    await startBuild(0, smart)
    let changed: Promise<void> | undefined
    await build(2, async () => {
      changed = change(D, { total_stock: 5 })
      await eventually('the change waits', async () => {
        const waiting = await admin`
          select from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`
        return waiting.length > 0
      })
    })
    await changed
    expect(await built()).toBe('D')
    await build(100)
    expect(await shown()).toBe('D')
    expect(await membershipDifferences(caller)).toEqual([])
  })
})

it('a chunk that is rolled back leaves no members, no count and no processed_to, and is built again', async () => {
  await startBuild(5, smart)
  const undone = new Error('undone')
  const failing = build(100, async () => {
    throw undone
  })
  await expect(failing).rejects.toBe(undone)
  expect([await built(), await membershipDifferences(caller)]).toEqual(['ABC', []])
  await build(100)
  expect([await shown(), await membershipDifferences(caller)]).toEqual(['ABCDEF', []])
})

it('the database refuses a second member for a product of a version', async () => {
  await startBuild(5, smart)
  const again = admin`insert into collection_member select * from collection_member limit 1`
  await expect(again).rejects.toMatchObject({ code: '23505', constraint_name: 'collection_member_pkey' })
})
