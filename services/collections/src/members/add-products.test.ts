import { randomUUID } from 'node:crypto'
import type { Collection } from '@backoffice/contracts/collection.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { describe, expect, it } from 'vitest'
import { aProductState, collectionsService } from '../testing/collections-api.ts'

const { admin, send, create, products, project, productsOf, takeStatements, published, membershipDifferences } =
  await collectionsService()
type Caller = ReturnType<typeof aCaller>

const add = (caller: Caller, { id }: { id: string }, ids: unknown[], headers?: Record<string, string>) =>
  send(caller, 'POST', `/v1/collections/${id}/products`, { products: ids }, headers)

describe('Adding products to a MANUAL collection (OP-33)', () => {
  it('puts them at its end in the order sent, answers 204, and is no event of the collection', async () => {
    const caller = aCaller()
    const [a, b, c] = await products(caller, 'A', 'B', 'C')
    const collection = await create(caller)
    expect(await add(caller, collection, [b?.id])).toMatchObject({ status: 204, body: undefined })
    await add(caller, collection, [c?.id.toUpperCase(), a?.id])
    expect(await productsOf(caller, collection)).toEqual(['B', 'C', 'A'])
    expect(await published(caller)).toHaveLength(1)
    const { body } = await send<Collection>(caller, 'GET', `/v1/collections/${collection.id}`)
    expect(body).toEqual({ ...collection, product_count: 3 })
  })

  it('a member stays where it is, one that is sent twice comes once', async () => {
    const caller = aCaller()
    const [a, b, c] = await products(caller, 'A', 'B', 'C')
    const collection = await create(caller)
    await add(caller, collection, [a?.id, b?.id])
    expect((await add(caller, collection, [c?.id, a?.id, c?.id])).status).toBe(204)
    expect(await productsOf(caller, collection)).toEqual(['A', 'B', 'C'])
    expect(await membershipDifferences(caller)).toEqual([])
  })

  it('one that the storefront does not show is a member, neither shown nor counted until it is', async () => {
    const caller = aCaller()
    const hidden = aProductState({ status: 'HIDDEN', name: 'Hidden' })
    await project(caller, hidden)
    const collection = await create(caller)
    await add(caller, collection, [hidden.id])
    expect(await productsOf(caller, collection)).toEqual([])
    await project(caller, { ...hidden, status: 'ACTIVE', version: 2 })
    expect(await productsOf(caller, collection)).toEqual(['Hidden'])
    expect(await membershipDifferences(caller)).toEqual([])
  })

  it('comes after the greatest position that was ever given, however great', async () => {
    const caller = aCaller()
    const [a, b, c] = await products(caller, 'A', 'B', 'C')
    const collection = await create(caller)
    await add(caller, collection, [a?.id])
    const positions = [{ product: a?.id, position: Number.MAX_SAFE_INTEGER }]
    await send(caller, 'PUT', `/v1/collections/${collection.id}/products/order`, { positions })
    expect((await add(caller, collection, [c?.id, b?.id])).status).toBe(204)
    expect(await productsOf(caller, collection)).toEqual(['A', 'C', 'B'])
  })

  it('drafts take products too', async () => {
    const caller = aCaller()
    const [a] = await products(caller, 'A')
    const collection = await create(caller, { published: false })
    expect((await add(caller, collection, [a?.id])).status).toBe(204)
    expect(
      await admin`select from collection_member join membership_version on number = version_number where collection_id = ${collection.id}`,
    ).toHaveLength(1)
  })
})

describe('A product that the workspace does not have', () => {
  it('is unprocessable, by the index of the first, and nothing is added', async () => {
    const caller = aCaller()
    const [a] = await products(caller, 'A')
    const [theirs] = await products(aCaller(), 'Theirs')
    const collection = await create(caller)
    const { status, body } = await add(caller, collection, [a?.id, theirs?.id, randomUUID()])
    expect([status, body.error.code, body.error.message]).toEqual([
      422,
      'unprocessable',
      `products[1]: this workspace has no product ${theirs?.id}`,
    ])
    expect(await productsOf(caller, collection)).toEqual([])
  })

  it('but was made moments ago is waited for', async () => {
    const caller = aCaller()
    const collection = await create(caller)
    const late = aProductState({ name: 'Late' })
    takeStatements()
    const adding = add(caller, collection, [late.id])
    await eventually('it was looked for in vain', () => takeStatements().some((text) => text.includes('rollback')))
    await project(caller, late)
    expect((await adding).status).toBe(204)
    expect(await productsOf(caller, collection)).toEqual(['Late'])
  })

  it('and was deleted is refused', async () => {
    const caller = aCaller()
    const [a] = await products(caller, 'A')
    const collection = await create(caller)
    if (a) await project(caller, a.id)
    expect((await add(caller, collection, [a?.id])).status).toBe(422)
  })

  it('keeps no collection that is not there, and no SMART one, waiting', async () => {
    const caller = aCaller()
    const rules = { match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 0 }] }
    const smart = await create(caller, { membership_type: 'SMART', rules })
    for (const [id, status] of [
      [smart.id, 422],
      [randomUUID(), 404],
    ] as const) {
      takeStatements()
      expect((await add(caller, { id }, [randomUUID()])).status).toBe(status)
      expect(takeStatements().length).toBeLessThanOrEqual(4)
    }
  })
})

it('Idempotency-Key: a call that is repeated gets the first answer, even when the product is gone (OP-08)', async () => {
  const caller = aCaller()
  const [a] = await products(caller, 'A')
  const collection = await create(caller)
  const headers = { 'idempotency-key': randomUUID() }
  expect((await add(caller, collection, [a?.id], headers)).status).toBe(204)
  if (a) await project(caller, a.id)
  expect((await add(caller, collection, [a?.id], headers)).status).toBe(204)
  expect((await add(caller, collection, [randomUUID()], headers)).status).toBe(409)
  expect(await productsOf(caller, collection)).toEqual([])
})

it('1,000 products take as many statements as one', async () => {
  const caller = aCaller()
  const states = await products(caller, ...Array.from({ length: 1000 }, (_, n) => String(n)))
  const collection = await create(caller)
  takeStatements()
  expect(
    (
      await add(
        caller,
        collection,
        states.map(({ id }) => id),
      )
    ).status,
  ).toBe(204)
  expect(takeStatements().length).toBeLessThanOrEqual(5)
  expect(await productsOf(caller, collection)).toEqual(states.slice(0, 100).map(({ name }) => name))
})
