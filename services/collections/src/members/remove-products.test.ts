import { randomUUID } from 'node:crypto'
import type { Collection } from '@backoffice/contracts/collection.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { collectionsService } from '../testing/collections-api.ts'

const { send, create, products, project, productsOf, takeStatements, published, membershipDifferences } =
  await collectionsService()

const remove = (caller: Caller, { id }: { id: string }, ids: unknown[]) =>
  send(caller, 'DELETE', `/v1/collections/${id}/products`, { products: ids })

/** Creates a collection of products with these names. Returns it with their ids. */
async function collectionOf(caller: Caller, ...names: string[]): Promise<[Collection, string[]]> {
  const ids = (await products(caller, ...names)).map(({ id }) => id)
  const collection = await create(caller)
  await send(caller, 'POST', `/v1/collections/${collection.id}/products`, { products: ids })
  return [collection, ids]
}

describe('Remove rule: removes the listed products from the collection', () => {
  it('the others stay in their order, the collection fires nothing', async () => {
    const caller = aCaller()
    const [collection, [a, , c]] = await collectionOf(caller, 'A', 'B', 'C', 'D')
    expect(await remove(caller, collection, [c, a?.toUpperCase()])).toMatchObject({ status: 204, body: undefined })
    expect(await productsOf(caller, collection)).toEqual(['B', 'D'])
    expect(await published(caller)).toHaveLength(1)
    expect(await membershipDifferences(caller)).toEqual([])
  })

  it('one that is no member, is unknown, listed twice or another workspace’s is no error (OP-34)', async () => {
    const caller = aCaller()
    const [collection, [a]] = await collectionOf(caller, 'A', 'B')
    const [, [theirs]] = await collectionOf(aCaller(), 'Theirs')
    expect((await remove(caller, collection, [a, a, randomUUID(), theirs])).status).toBe(204)
    expect((await remove(caller, collection, [a])).status).toBe(204)
    expect(await productsOf(caller, collection)).toEqual(['B'])
  })

  it('it stays in other collections, and comes to the end when it is added again', async () => {
    const caller = aCaller()
    const [collection, [a = '', b]] = await collectionOf(caller, 'A', 'B')
    const other = await create(caller)
    await send(caller, 'POST', `/v1/collections/${other.id}/products`, { products: [a] })
    await remove(caller, collection, [a])
    expect(await productsOf(caller, other)).toEqual(['A'])
    await send(caller, 'POST', `/v1/collections/${collection.id}/products`, { products: [a] })
    expect(await productsOf(caller, collection)).toEqual(['B', 'A'])
    await remove(caller, collection, [a, b])
    expect(await productsOf(caller, collection)).toEqual([])
  })

  it('of a draft too, by its handle', async () => {
    const caller = aCaller()
    const [collection, ids] = await collectionOf(caller, 'A')
    await send(caller, 'PUT', `/v1/collections/${collection.id}`, { published: false })
    expect((await remove(caller, { id: collection.handle }, ids)).status).toBe(204)
    const { body } = await send<Collection>(caller, 'PUT', `/v1/collections/${collection.id}`, { published: true })
    expect(body.product_count).toBe(0)
  })

  it('what a product’s deletion took out does not come back with one of the same name', async () => {
    const caller = aCaller()
    const [collection, [a = '']] = await collectionOf(caller, 'A', 'B')
    await project(caller, a)
    expect(await productsOf(caller, collection)).toEqual(['B'])
    await products(caller, 'A')
    expect(await productsOf(caller, collection)).toEqual(['B'])
    expect(await membershipDifferences(caller)).toEqual([])
  })
})

it('needs the scope product::delete', async () => {
  const caller = aCaller()
  const [collection, ids] = await collectionOf(caller, 'A')
  expect((await remove({ ...caller, scopes: ['product::update'] }, collection, ids)).status).toBe(403)
})

it('1,000 products take as many statements as one', async () => {
  const caller = aCaller()
  const [collection, ids] = await collectionOf(caller, ...Array.from({ length: 1000 }, (_, n) => String(n)))
  takeStatements()
  expect((await remove(caller, collection, ids)).status).toBe(204)
  expect(takeStatements().length).toBeLessThanOrEqual(5)
  expect(await productsOf(caller, collection)).toEqual([])
})
