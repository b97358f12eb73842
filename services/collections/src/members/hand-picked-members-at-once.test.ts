import type { Collection } from '@backoffice/contracts/collection.ts'
import type { ProductState } from '@backoffice/contracts/product-records.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { aProductState, collectionsService } from '../testing/collections-api.ts'

const { admin, send, create, products, project, productsOf, membershipDifferences } = await collectionsService()

const ROUNDS = Array.from({ length: 20 }, (_, round) => round)
const add = (caller: Caller, { id }: Collection, ids: unknown[]) =>
  send(caller, 'POST', `/v1/collections/${id}/products`, { products: ids })
const remove = (caller: Caller, { id }: Collection, ids: unknown[]) =>
  send(caller, 'DELETE', `/v1/collections/${id}/products`, { products: ids })
const reorder = (caller: Caller, { id }: Collection, ids: string[]) =>
  send(caller, 'PUT', `/v1/collections/${id}/products/order`, {
    positions: ids.map((product, position) => ({ product, position })),
  })
const idsOf = (states: ProductState[]) => states.map(({ id }) => id)

/** Positions with tie-breaker that more than one member of a version has. */
const shared = (collection: Collection) => admin`
  select position, tie_breaker from collection_member join membership_version on number = version_number
  where collection_id = ${collection.id} group by number, position, tie_breaker having count(*) > 1`

it('Products added at once all join, each once, at places of their own', async () => {
  const caller = aCaller()
  const ids = idsOf(await products(caller, ...'ABCDEF'))
  for (const _ of ROUNDS) {
    const collection = await create(caller)
    const calls = [ids.slice(0, 4), ids.slice(2), ids.toReversed(), ids.slice(1, 3)]
    const answers = await Promise.all(calls.map((call) => add(caller, collection, call)))
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204])
    expect((await productsOf(caller, collection)).toSorted()).toEqual([...'ABCDEF'])
    expect(await shared(collection)).toEqual([])
  }
  expect(await membershipDifferences(caller)).toEqual([])
})

it('Adding, removing and reordering at once come to what one of their orders comes to', async () => {
  const caller = aCaller()
  const ids = idsOf(await products(caller, ...'ABCDE'))
  const [a, b, c, d, e] = ids as [string, string, string, string, string]
  for (const _ of ROUNDS) {
    const collection = await create(caller)
    await add(caller, collection, [a, b, c])
    const [reordered] = await Promise.all([
      reorder(caller, collection, [c, b, a]),
      add(caller, collection, [d, e, b]),
      remove(caller, collection, [b]),
    ])
    const order = (await productsOf(caller, collection)).join('')
    if (reordered.status === 422) expect(['ACDE', 'ACDEB']).toContain(order)
    else expect(['CADE', 'CADEB', 'CBADE']).toContain(order)
    expect(await shared(collection)).toEqual([])
  }
  expect(await membershipDifferences(caller)).toEqual([])
})

it('Reorders at once leave the order of one of them, even while the products change', async () => {
  const caller = aCaller()
  const states = await products(caller, ...'ABC')
  const [a, b, c] = idsOf(states) as [string, string, string]
  const collection = await create(caller)
  await add(caller, collection, [a, b, c])
  for (const round of ROUNDS) {
    const answers = await Promise.all([
      reorder(caller, collection, [c, b, a]),
      ...states.map((state) => project(caller, { ...state, total_stock: round, version: round + 2 })),
      reorder(caller, collection, [b, a, c]),
    ])
    expect([answers[0].status, answers.at(-1)?.status]).toEqual([204, 204])
    expect(['CBA', 'BAC']).toContain((await productsOf(caller, collection)).join(''))
    expect(await membershipDifferences(caller)).toEqual([])
  }
})

it('A product that changes while it is added is a member as it is now', async () => {
  const caller = aCaller()
  const collections = [
    await create(caller, { sort_order: 'TITLE_ASC' }),
    await create(caller, { sort_order: 'STOCK_DESC' }),
  ]
  for (const _ of ROUNDS) {
    const state = aProductState()
    await project(caller, state)
    await Promise.all([
      project(caller, { ...state, name: 'Other', total_stock: 77, status: 'HIDDEN', version: 2 }),
      ...collections.map((collection) => add(caller, collection, [state.id])),
    ])
    expect(await membershipDifferences(caller)).toEqual([])
  }
})

it('A product that is deleted while it is added is no member', async () => {
  const caller = aCaller()
  const collections = [await create(caller), await create(caller)]
  for (const _ of ROUNDS) {
    const state = aProductState()
    await project(caller, state)
    const [answer] = await Promise.all([
      add(caller, collections[0] as Collection, [state.id]),
      project(caller, state.id),
      add(caller, collections[1] as Collection, [state.id]),
    ])
    expect([204, 422]).toContain(answer.status)
    expect(await membershipDifferences(caller)).toEqual([])
  }
})

it('Hand-picked members change while the collection becomes SMART and MANUAL again: none is lost or restored', async () => {
  const caller = aCaller()
  const ids = idsOf(await products(caller, ...'ABCD'))
  const rules = { match: 'all', conditions: [{ field: 'stock', operator: 'lt', value: 0 }] }
  for (const _ of ROUNDS) {
    const collection = await create(caller)
    await add(caller, collection, ids.slice(0, 2))
    const path = `/v1/collections/${collection.id}`
    const [, , added, removed] = await Promise.all([
      send(caller, 'PUT', path, { membership_type: 'SMART', rules }),
      send(caller, 'PUT', path, { membership_type: 'MANUAL' }),
      add(caller, collection, ids.slice(2)),
      remove(caller, collection, ids.slice(0, 1)),
    ])
    await send(caller, 'PUT', path, { membership_type: 'MANUAL' })
    const expected = (removed.status === 204 ? 'B' : 'AB') + (added.status === 204 ? 'CD' : '')
    expect((await productsOf(caller, collection)).join('')).toBe(expected)
  }
  expect(await membershipDifferences(caller)).toEqual([])
})
