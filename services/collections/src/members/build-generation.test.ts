import type { ProductState } from '@backoffice/contracts/product.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { describe, expect, it } from 'vitest'
import { aProductState, collectionsService } from '../harness.ts'
import { renewCollections } from '../products/renew-collections.ts'
import { buildChunk } from './build-generation.ts'
import { lockMembershipAlone } from './membership-lock.ts'

const { admin, worker, send, create, project, productsOf, wrongs } = await collectionsService()
await admin`create table seen (id uuid)`
await admin`grant select on seen to collections_worker`

const inStock = { match: 'all', conditions: [{ field: 'stock', operator: 'gte', value: 5 }] }
let caller: ReturnType<typeof aCaller>
let collection: { id: string }
let states: ProductState[]

/** The builder comes to C in its first chunk: B is before where it is, C there, D behind. */
const FIRST = 3
const [B, C, D] = [1, 2, 3]

/** Products A to F, with so much stock, in a collection of those with 5 at least, which is being made anew. */
async function begun(stock: number, differences: object): Promise<void> {
  caller = aCaller()
  states = [...'ABCDEF'].map((name) => aProductState({ name, total_stock: stock }))
  await project(caller, ...states)
  collection = await create(caller, { sort_order: 'TITLE_ASC', ...differences })
  const ids = states.map(({ id }) => id)
  if (!('rules' in differences))
    await send(caller, 'POST', `/v1/collections/${collection.id}/products`, { products: ids })
  await renewCollections(worker.sql)
  await build(FIRST)
  expect(await wrongs(caller)).toEqual([])
}

const smart = { membership_type: 'SMART', rules: inStock }

/** Builds so many products; `before` runs before that is committed. */
const build = (size: number, before = async () => {}): Promise<void> =>
  inTransaction(worker.sql, async (tx) => {
    await lockMembershipAlone(tx, caller.workspaceId)
    await buildChunk(tx, { workspaceId: caller.workspaceId, collectionId: collection.id }, size)
    await before()
  })

const change = (index: number, differences: Partial<ProductState>) => {
  const state = states[index] as ProductState
  return project(caller, { ...state, version: state.version + 1, ...differences })
}

/** Names of the products that the generation which is being built has. */
const built = async (): Promise<string> =>
  (
    await admin<{ name: string }[]>`
      select upper(name) as name from generation join member on generation = number join product on product.id = product_id
      where collection_id = ${collection.id} and state = 'BUILDING' order by name`
  )
    .map(({ name }) => name)
    .join('')

const shown = async () => (await productsOf(caller, collection)).join('')

describe('A product that changes while its collection is built, before, at and behind where the builder is', () => {
  it('joins by the change where the builder has been, and by the builder where it comes to', async () => {
    await begun(0, smart)
    for (const index of [B, C, D]) await change(index, { total_stock: 5 })
    expect([await built(), await shown()]).toEqual(['BC', 'BCD'])
    expect(await wrongs(caller)).toEqual([])
    await build(100)
    expect(await shown()).toBe('BCD')
    expect(await wrongs(caller)).toEqual([])
  })

  it('leaves', async () => {
    await begun(5, smart)
    for (const index of [B, C, D]) await change(index, { total_stock: 0 })
    expect([await built(), await shown()]).toEqual(['A', 'AEF'])
    await build(100)
    expect(await shown()).toBe('AEF')
    expect(await wrongs(caller)).toEqual([])
  })

  it.each([
    ['gathered by rules', smart],
    ['picked by hand', {}],
  ])('moves, is hidden and is deleted, %s', async (_, differences) => {
    await begun(5, differences)
    for (const index of [B, C, D]) await change(index, { name: `Z${index}` })
    for (const index of [B, C, D]) await change(index, { name: `Z${index}`, status: 'HIDDEN', version: 3 })
    expect(await wrongs(caller)).toEqual([])
    for (const index of [B, C, D]) await project(caller, states[index]?.id ?? '')
    expect([await built(), await shown()]).toEqual(['A', 'AEF'])
    await build(100)
    expect(await shown()).toBe('AEF')
    expect(await wrongs(caller)).toEqual([])
  })

  it('is picked: the pick is put in by the call or by the builder', async () => {
    await begun(5, {})
    const path = `/v1/collections/${collection.id}/products`
    const products = [B, C, D].map((index) => states[index]?.id)
    expect((await send(caller, 'DELETE', path, { products })).status).toBe(204)
    expect((await send(caller, 'POST', path, { products })).status).toBe(204)
    expect([await built(), await shown()]).toEqual(['ABC', 'ABCDEF'])
    expect(await wrongs(caller)).toEqual([])
    await build(100)
    expect(await shown()).toBe('ABCDEF')
    expect(await wrongs(caller)).toEqual([])
  })

  it('waits for a chunk that is under way, and then finds the builder where that has come to', async () => {
    await begun(0, smart)
    let changed: Promise<void> | undefined
    await build(2, async () => {
      changed = change(D, { total_stock: 5 })
      await eventually('the change waits', async () => {
        const waiting = await admin`select from pg_locks where locktype = 'advisory' and not granted`
        return waiting.length > 0
      })
    })
    await changed
    expect(await built()).toBe('D')
    await build(100)
    expect(await shown()).toBe('D')
    expect(await wrongs(caller)).toEqual([])
  })
})

it('a chunk that is undone leaves neither members nor count nor place, and is done again', async () => {
  await begun(5, smart)
  const undone = new Error('undone')
  const failing = build(100, async () => {
    throw undone
  })
  await expect(failing).rejects.toBe(undone)
  expect([await built(), await wrongs(caller)]).toEqual(['ABC', []])
  await build(100)
  expect([await shown(), await wrongs(caller)]).toEqual(['ABCDEF', []])
})

it('no product is twice in a generation: the database refuses it', async () => {
  await begun(5, smart)
  const again = admin`insert into member select * from member limit 1`
  await expect(again).rejects.toMatchObject({ code: '23505', constraint_name: 'member_pkey' })
})
