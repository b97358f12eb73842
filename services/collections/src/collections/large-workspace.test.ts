import type { Collection } from '@backoffice/contracts/collection.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { v7 as uuidv7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import { aProductState, collectionsService, type ProductPage } from '../testing/collections-api.ts'

/** More products than a request processes. */
const MANY = 11_000
const { admin, send, create, project, startBuilder, membershipDifferences } = await collectionsService()

const inStock = (value: number) => ({ match: 'all', conditions: [{ field: 'stock', operator: 'gte', value }] })
const everything = { membership_type: 'SMART', rules: inStock(0) }
const put = async (caller: Caller, { id }: { id: string }, body: unknown): Promise<Collection> =>
  (await send<Collection>(caller, 'PUT', `/v1/collections/${id}`, body)).body
const members = (caller: Caller, { id }: { id: string }, method: 'POST' | 'DELETE', products: unknown[]) =>
  send(caller, method, `/v1/collections/${id}/products`, { products })
const countOf = async (caller: Caller, { id }: { id: string }) =>
  (await send<Collection>(caller, 'GET', `/v1/collections/${id}`)).body.product_count
const namesOf = async (caller: Caller, { id }: { id: string }) =>
  (await send<ProductPage>(caller, 'GET', `/v1/collections/${id}/products?limit=3`)).body.items.map(({ name }) => name)

/** A workspace whose products are copied: to project so many takes long. */
const source = aCaller()
const states = Array.from({ length: MANY }, (_, n) => aProductState({ name: String(n), total_stock: n }))
for (let n = 0; n < MANY; n += 1000) await project(source, ...states.slice(n, n + 1000))

/** The ids of a workspace's products, in ascending order; their names and stocks are 0, 1, … */
async function manyProducts({ workspaceId }: Caller): Promise<string[]> {
  const ids = states.map(() => uuidv7())
  await admin`
    insert into product
    select copied.*
    from unnest(${states.map(({ id }) => id)}::uuid[], ${ids}::uuid[]) as ids (before, after)
    join product on workspace_id = ${source.workspaceId} and id = before
    cross join jsonb_populate_record(product, jsonb_build_object(
      'workspace_id', ${workspaceId}::text, 'id', after, 'body', replace(body::text, before::text, after::text)::json
    )) as copied`
  return ids
}

async function manyPicked(caller: Caller, sort_order = 'MANUAL') {
  const ids = await manyProducts(caller)
  const collection = await create(caller, { sort_order })
  for (let n = 0; n < MANY; n += 1000) await members(caller, collection, 'POST', ids.slice(n, n + 1000))
  return { ids, collection }
}

/** Runs the builder until nothing is left to build or delete. */
async function built(caller: Caller): Promise<void> {
  const builder = await startBuilder()
  await eventually('all is built, and what is over deleted', async () => {
    const [row] = await admin`
      select from membership_version where workspace_id = ${caller.workspaceId} and state in ('BUILDING', 'RETIRED') limit 1`
    return row === undefined
  })
  await builder.stop?.()
  expect(await membershipDifferences(caller)).toEqual([])
}

describe('A membership too large for a request is built behind what is shown (OP-115)', () => {
  it('a new SMART collection has no products until all of them are there', async () => {
    const caller = aCaller()
    await manyProducts(caller)
    const collection = await create(caller, everything)
    expect([collection.product_count, await namesOf(caller, collection)]).toEqual([0, []])
    await built(caller)
    expect(await countOf(caller, collection)).toBe(MANY)
  })

  it('new rules: the answer and reads show the products of the old ones until then; what changes meanwhile is in both', async () => {
    const caller = aCaller()
    const [first = '', second = ''] = await manyProducts(caller)
    const collection = await create(caller, { membership_type: 'SMART', rules: inStock(MANY - 1) })
    await built(caller)
    expect(await countOf(caller, collection)).toBe(1)
    expect((await put(caller, collection, { rules: inStock(0) })).product_count).toBe(1)
    const state = aProductState({ id: second, name: 'changed', total_stock: MANY, version: 2 })
    await project(caller, first, state, aProductState({ id: crypto.randomUUID(), name: 'late', total_stock: 1 }))
    expect(await countOf(caller, collection)).toBe(2)
    await built(caller)
    expect(await countOf(caller, collection)).toBe(MANY)
  })

  it('rules that are replaced before they are built are given up; so is one that is deleted', async () => {
    const caller = aCaller()
    await manyProducts(caller)
    const [collection, other] = [await create(caller, everything), await create(caller, everything)]
    await put(caller, collection, { rules: inStock(1) })
    await put(caller, collection, { rules: inStock(2) })
    await send(caller, 'DELETE', `/v1/collections/${other.id}`)
    await built(caller)
    expect(await countOf(caller, collection)).toBe(MANY - 2)
    const left = await admin`
      select distinct collection_id from collection_member left join membership_version on number = version_number
      where collection_member.workspace_id = ${caller.workspaceId}`
    expect(left).toEqual([{ collection_id: collection.id }])
  })

  it('becoming MANUAL before the rules are built shows what is picked at once', async () => {
    const caller = aCaller()
    const [first] = await manyProducts(caller)
    const collection = await create(caller, { sort_order: 'TITLE_ASC' })
    await members(caller, collection, 'POST', [first])
    expect((await put(caller, collection, everything)).product_count).toBe(1)
    expect((await put(caller, collection, { membership_type: 'MANUAL' })).product_count).toBe(1)
    await built(caller)
    expect([await countOf(caller, collection), await namesOf(caller, collection)]).toEqual([1, ['0']])
  })
})

describe('Hand-picked products can be changed while their new order is built', () => {
  it.each<[string, (caller: Caller, collection: Collection) => Promise<unknown>]>([
    ['after sort_order changed', async (caller, collection) => put(caller, collection, { sort_order: 'MANUAL' })],
    [
      'after the collection was SMART',
      async (caller, collection) => {
        await put(caller, collection, { ...everything, rules: inStock(MANY), sort_order: 'MANUAL' })
        await built(caller)
        expect(await countOf(caller, collection)).toBe(0)
        await put(caller, collection, { membership_type: 'MANUAL' })
      },
    ],
  ])('%s: what is added, removed and reordered meanwhile is so once it is shown', async (_, change) => {
    const caller = aCaller()
    const { ids, collection } = await manyPicked(caller, 'TITLE_ASC')
    await change(caller, collection)
    const late = aProductState({ name: 'late' })
    await project(caller, late)
    const [one, two, last] = [ids[1], ids[2], ids.at(-1)]
    // Of each kind one product that the request has processed and one that it has not.
    expect((await members(caller, collection, 'DELETE', [one, ids.at(-2)])).status).toBe(204)
    expect((await members(caller, collection, 'POST', [last, two, late.id])).status).toBe(204)
    const positions = [
      { product: last, position: 0 },
      { product: two, position: MANY - 3 },
      { product: late.id, position: 1 },
    ]
    const path = `/v1/collections/${collection.id}/products/order`
    expect(await send(caller, 'PUT', path, { positions })).toMatchObject({ status: 204 })
    await built(caller)
    expect(await countOf(caller, collection)).toBe(MANY - 1)
    expect(await namesOf(caller, collection)).toEqual([String(MANY - 1), '0', 'late'])
    const lastPage = `/v1/collections/${collection.id}/products?after=${ids[MANY - 4]}`
    const end = await send<ProductPage>(caller, 'GET', lastPage)
    expect(end.body.items.map(({ name }) => name)).toEqual(['2', String(MANY - 3)])
  })
})
