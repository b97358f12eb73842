import { randomUUID } from 'node:crypto'
import type { Collection } from '@backoffice/contracts/collection.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { aProductState, collectionsService } from '../testing/collections-api.ts'

const { send, create, products, project, productsOf, takeStatements, published, membershipDifferences } =
  await collectionsService()

const reorder = (caller: Caller, { id }: { id: string }, ...positions: [string | undefined, number][]) =>
  send(caller, 'PUT', `/v1/collections/${id}/products/order`, {
    positions: positions.map(([product, position]) => ({ product, position })),
  })

/** Creates a collection of products with these names at 0, 1, … Returns it with their ids. */
async function collectionOf(caller: Caller, ...names: string[]): Promise<[Collection, string[]]> {
  const ids = (await products(caller, ...names)).map(({ id }) => id)
  const collection = await create(caller)
  await send(caller, 'POST', `/v1/collections/${collection.id}/products`, { products: ids })
  return [collection, ids]
}

const orderOf = async (caller: Caller, collection: Collection) => (await productsOf(caller, collection)).join('')

describe('Reorder rule: sets explicit positions for products in a MANUAL collection', () => {
  it('all of them, with any positions from 0, which need not follow each other', async () => {
    const caller = aCaller()
    const [collection, [a, b, c]] = await collectionOf(caller, 'A', 'B', 'C')
    expect(
      await reorder(caller, collection, [a?.toUpperCase(), Number.MAX_SAFE_INTEGER], [b, 0], [c, 70]),
    ).toMatchObject({
      status: 204,
      body: undefined,
    })
    expect(await orderOf(caller, collection)).toBe('BCA')
    expect(await published(caller)).toHaveLength(1)
  })

  it('listed products take theirs, the others keep theirs (OP-34)', async () => {
    const caller = aCaller()
    const [collection, [, b, c]] = await collectionOf(caller, 'A', 'B', 'C', 'D')
    await reorder(caller, collection, [b, 9])
    expect(await orderOf(caller, collection)).toBe('ACDB')
    await reorder(caller, collection, [c, 1])
    expect(await orderOf(caller, collection)).toBe('ACDB')
  })

  it('a product that is sent is at its position, and those that were there come after it (OP-34)', async () => {
    const caller = aCaller()
    const [collection, [a, b, c, d]] = await collectionOf(caller, 'A', 'B', 'C', 'D')
    await reorder(caller, collection, [c, 0])
    expect(await orderOf(caller, collection)).toBe('CABD')
    await reorder(caller, collection, [d, 0])
    expect(await orderOf(caller, collection)).toBe('DCAB')
    await reorder(caller, collection, [c, 0])
    expect(await orderOf(caller, collection)).toBe('CDAB')
    await reorder(caller, collection, [a, 5])
    expect(await orderOf(caller, collection)).toBe('CDBA')
    await reorder(caller, collection, [b, 0], [a, 1])
    expect(await orderOf(caller, collection)).toBe('BCDA')
  })

  it('two change places', async () => {
    const caller = aCaller()
    const [collection, [a, , c]] = await collectionOf(caller, 'A', 'B', 'C')
    await reorder(caller, collection, [a, 2], [c, 0])
    expect(await orderOf(caller, collection)).toBe('CBA')
  })

  it('a product that is added later comes after the greatest position', async () => {
    const caller = aCaller()
    const [collection, [a]] = await collectionOf(caller, 'A', 'B')
    await reorder(caller, collection, [a, 40])
    const [late] = await products(caller, 'C')
    await send(caller, 'POST', `/v1/collections/${collection.id}/products`, { products: [late?.id] })
    expect(await orderOf(caller, collection)).toBe('BAC')
  })

  it('the positions of a product the storefront does not show are kept as well', async () => {
    const caller = aCaller()
    const [collection, [a, b = '']] = await collectionOf(caller, 'A', 'B')
    await project(caller, aProductState({ id: b, name: 'B', status: 'HIDDEN', version: 2 }))
    expect((await reorder(caller, collection, [b, 0], [a, 1])).status).toBe(204)
    await project(caller, aProductState({ id: b, name: 'B', version: 3 }))
    expect(await orderOf(caller, collection)).toBe('BA')
  })

  it('positions given while the order is another show when it is MANUAL', async () => {
    const caller = aCaller()
    const [collection, [a, b]] = await collectionOf(caller, 'A', 'B')
    const path = `/v1/collections/${collection.id}`
    await send(caller, 'PUT', path, { sort_order: 'TITLE_ASC' })
    await reorder(caller, collection, [b, 0], [a, 1])
    expect(await orderOf(caller, collection)).toBe('AB')
    expect(await membershipDifferences(caller)).toEqual([])
    await send(caller, 'PUT', path, { sort_order: 'MANUAL' })
    expect(await orderOf(caller, collection)).toBe('BA')
  })

  it('a draft’s too, by its handle', async () => {
    const caller = aCaller()
    const [collection, [a]] = await collectionOf(caller, 'A', 'B')
    await send(caller, 'PUT', `/v1/collections/${collection.id}`, { published: false })
    expect((await reorder(caller, { id: collection.handle }, [a, 9])).status).toBe(204)
    await send(caller, 'PUT', `/v1/collections/${collection.id}`, { published: true })
    expect(await orderOf(caller, collection)).toBe('BA')
  })
})

describe('is unprocessable, and nothing is applied (OP-34)', () => {
  it.each<[string, (ids: string[]) => [string | undefined, number][], (ids: string[]) => string]>([
    [
      'a product twice',
      ([a]) => [
        [a, 7],
        [a?.toUpperCase(), 8],
      ],
      ([a]) => `positions[1].product: ${a} is there twice; send it once`,
    ],
    [
      'a position twice',
      ([a, b]) => [
        [a, 7],
        [b, 7],
      ],
      () => 'positions[1].position: 7 is there twice; send it once',
    ],
  ])('%s', async (_, positions, message) => {
    const caller = aCaller()
    const [collection, ids] = await collectionOf(caller, 'A', 'B')
    const { status, body } = await reorder(caller, collection, ...positions(ids))
    expect([status, body.error.code, body.error.message]).toEqual([422, 'unprocessable', message(ids)])
    expect(await orderOf(caller, collection)).toBe('AB')
    expect((await reorder(caller, { id: randomUUID() }, ...positions(ids))).status).toBe(404)
  })

  it('a product that is no member: unknown, in another collection, another workspace’s', async () => {
    const caller = aCaller()
    const [collection, [a]] = await collectionOf(caller, 'A', 'B')
    const [, [elsewhere]] = await collectionOf(caller, 'C')
    const [, [theirs]] = await collectionOf(aCaller(), 'D')
    for (const product of [randomUUID(), elsewhere, theirs]) {
      const { status, body } = await reorder(caller, collection, [a, 9], [product, 0])
      expect([status, body.error.code]).toEqual([422, 'unprocessable'])
      expect(body.error.message).toBe(`positions[1].product: ${product} is not in the collection; add it first`)
    }
    expect(await orderOf(caller, collection)).toBe('AB')
  })
})

it('needs the scope product::update', async () => {
  const caller = aCaller()
  const [collection, [a]] = await collectionOf(caller, 'A')
  expect((await reorder({ ...caller, scopes: ['product::delete'] }, collection, [a, 1])).status).toBe(403)
})

it('1,000 positions take at most five statements, the transaction’s own too', async () => {
  const caller = aCaller()
  const names = Array.from({ length: 1000 }, (_, n) => String(n))
  const [collection, ids] = await collectionOf(caller, ...names)
  takeStatements()
  const backwards = ids.map((id, n): [string, number] => [id, 999 - n])
  expect((await reorder(caller, collection, ...backwards)).status).toBe(204)
  expect(takeStatements().length).toBeLessThanOrEqual(5)
  expect(await productsOf(caller, collection)).toEqual(names.toReversed().slice(0, 100))
  expect(await membershipDifferences(caller)).toEqual([])
})
