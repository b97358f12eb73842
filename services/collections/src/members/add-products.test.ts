import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Collection } from '@backoffice/contracts/collection.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { aCaller, type Caller, testSigner } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startReceiver } from '@backoffice/testing/receiver.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { callsToCatalog } from '../calls-to-catalog.ts'
import { lockMembershipsExclusive, lockMembershipsShared } from '../memberships/membership-lock.ts'
import { ruleSets } from '../memberships/rule-sets.ts'
import { rebuildMemberships } from '../products/rebuild-memberships.ts'
import { applyProducts } from '../products/write-products.ts'
import { aProductState, type CollectionPage, collectionsService } from '../testing/collections-api.ts'

/** A server that answers as the catalog does. */
const catalog = await startReceiver()
const calls = callsToCatalog(catalog.url, testSigner())
whenDone(async () => calls.stop?.())
const service = await collectionsService(calls)
const { admin, send, create, products, project, productsOf, takeStatements, published, membershipDifferences } = service

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

/** Makes the catalog answer that these products exist, and no others. */
const catalogHas = (...ids: string[]) =>
  catalog.answerWith((response, { body }) => {
    const { products } = JSON.parse(body.toString()) as { products: string[] }
    response.end(JSON.stringify({ products: products.filter((id) => ids.includes(id)) }))
  })
beforeEach(() => {
  catalogHas()
  catalog.requests.length = 0
})

describe('A product whose state has not arrived yet', () => {
  it('is asked for beside those of a workspace that asks for many while the catalog hangs (OP-161)', async () => {
    const [busy, other] = [aCaller(), aCaller()]
    const [crowded, free] = [await create(busy), await create(other)]
    const [wanted, hanging] = [randomUUID(), randomUUID()]
    const held: ServerResponse[] = []
    catalog.answerWith((response, { body }) => {
      if (body.includes(hanging)) held.push(response)
      else response.writeHead(200).end(body)
    })
    const adds = Array.from({ length: 40 }, () => add(busy, crowded, [hanging]))
    await eventually('they are under way', () => held.length >= 8)
    expect(await add(other, free, [wanted])).toMatchObject({ status: 204 })
    for (const response of held) response.writeHead(200).end('{"products":[]}')
    catalogHas()
    const statuses = new Set((await Promise.all(adds)).map(({ status }) => status))
    expect([...statuses].filter((status) => status !== 422 && status !== 429)).toEqual([])
  })

  it('is picked at once when the catalog has it, and is in its place when its state arrives', async () => {
    const caller = aCaller()
    const [a, b] = await products(caller, 'A', 'B')
    const late = aProductState({ name: 'Late' })
    catalogHas(late.id)
    for (const sort_order of ['MANUAL', 'TITLE_DESC']) {
      const collection = await create(caller, { sort_order })
      expect((await add(caller, collection, [b?.id, late.id.toUpperCase(), a?.id])).status).toBe(204)
    }
    expect(catalog.requests.map(({ path, body }) => [path, JSON.parse(body.toString())])).toEqual(
      ['MANUAL', 'TITLE_DESC'].map(() => ['/internal/products/existing', { products: [late.id] }]),
    )
    const shown = async () => {
      const { body } = await send<CollectionPage>(caller, 'GET', '/v1/collections')
      const counted = body.items.map(async (one) => [one.product_count, ...(await productsOf(caller, one))])
      return Promise.all(counted)
    }
    const before = [2, 'B', 'A']
    expect(await shown()).toEqual([before, before])
    expect(await membershipDifferences(caller)).toEqual([])
    await project(caller, late)
    expect(await shown()).toEqual([
      [3, 'Late', 'B', 'A'],
      [3, 'B', 'Late', 'A'],
    ])
    expect(await membershipDifferences(caller)).toEqual([])
  })

  it('is asked for once, with two transactions, however many there are', async () => {
    const caller = aCaller()
    const collection = await create(caller)
    const late = Array.from({ length: 1000 }, () => randomUUID())
    catalogHas(...late)
    takeStatements()
    expect((await add(caller, collection, late)).status).toBe(204)
    const statements = takeStatements()
    expect(statements.filter((text) => text.includes('rollback'))).toHaveLength(1)
    expect(statements.length).toBeLessThanOrEqual(11)
    expect(catalog.requests).toHaveLength(1)
  })

  it('is not asked for again once it is a member, and can be placed and removed', async () => {
    const caller = aCaller()
    const collection = await create(caller)
    const [late, other] = [aProductState({ name: 'Late' }), aProductState({ name: 'Other' })]
    catalogHas(late.id, other.id)
    await add(caller, collection, [late.id, other.id])
    expect((await add(caller, collection, [late.id])).status).toBe(204)
    expect(catalog.requests).toHaveLength(1)
    const path = `/v1/collections/${collection.id}/products`
    const positions = [{ product: late.id, position: 7 }]
    expect((await send(caller, 'PUT', `${path}/order`, { positions })).status).toBe(204)
    await project(caller, late, other)
    expect(await productsOf(caller, collection)).toEqual(['Other', 'Late'])
    await send(caller, 'DELETE', path, { products: [other.id] })
    expect(await productsOf(caller, collection)).toEqual(['Late'])
  })

  it('comes with a state that is applied at the same moment, of which neither side sees the other', async () => {
    await service.startCompletingPending()
    const caller = aCaller()
    const collection = await create(caller)
    const late = aProductState({ name: 'Late' })
    catalogHas(late.id)
    const applied = Promise.withResolvers<void>()
    const onceAdded = Promise.withResolvers<void>()
    const projecting = inTransaction(service.worker.sql, async (tx) => {
      await lockMembershipsShared(tx, [caller.workspaceId])
      await applyProducts(tx, ruleSets(), [{ id: late.id, state: { workspace_id: caller.workspaceId, data: late } }])
      applied.resolve()
      await onceAdded.promise
    })
    await applied.promise
    expect((await add(caller, collection, [late.id])).status).toBe(204)
    onceAdded.resolve()
    await projecting
    await expect.poll(() => productsOf(caller, collection)).toEqual(['Late'])
    const awaited = () => admin`select from awaited_product where workspace_id = ${caller.workspaceId}`
    await expect.poll(awaited).toHaveLength(0)
    expect(await membershipDifferences(caller)).toEqual([])
  })

  it('comes while another workspace, whose locks are held, waits for more products than a batch has', async () => {
    const [many, caller] = [aCaller(), aCaller()]
    const locked = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const holding = inTransaction(service.worker.sql, async (tx) => {
      await lockMembershipsExclusive(tx, many.workspaceId)
      locked.resolve()
      await release.promise
    })
    await locked.promise
    await admin`
      with arrived as (insert into deleted_product (id) select uuidv7() from generate_series(1, 1500) returning id)
      insert into awaited_product (workspace_id, product_id, awaited_since)
      select ${many.workspaceId}, id, now() - interval '1 hour' from arrived`
    const collection = await create(caller)
    const late = aProductState({ name: 'Late' })
    catalogHas(late.id)
    await add(caller, collection, [late.id])
    await service.startCompletingPending()
    await project(caller, late)
    const awaited = async () =>
      (await admin`select from awaited_product where workspace_id = ${caller.workspaceId}`).length
    await expect.poll(awaited).toBe(0)
    release.resolve()
    await holding
    await eventually(
      'the other one has its turn',
      async () => (await admin`select from awaited_product where workspace_id = ${many.workspaceId}`).length === 0,
    )
  })

  it('is no member any more once its deletion arrives, also without any state', async () => {
    await service.startCompletingPending()
    const caller = aCaller()
    const collection = await create(caller)
    const [late, other] = [randomUUID(), randomUUID()]
    catalogHas(late, other)
    await add(caller, collection, [late, other])
    await project(caller, late)
    const members = () => admin<{ id: string }[]>`
      select product_id as id from collection_member where workspace_id = ${caller.workspaceId}`
    await expect.poll(members).toEqual([{ id: other }])
  })

  it('stays picked when the projection is rebuilt meanwhile', async () => {
    const caller = aCaller()
    const collection = await create(caller)
    const [late, gone] = [aProductState({ name: 'Late' }), aProductState({ name: 'Gone' })]
    catalogHas(late.id)
    await project(caller, gone)
    await add(caller, collection, [late.id, gone.id])
    await admin`delete from product where id = ${gone.id}`
    const session = openDatabase({ url: service.workerUrl, applicationName: 'rebuild', poolSize: 1 })
    whenDone(async () => session.stop?.())
    await session.sql`create temporary table topic_product (id uuid not null)`
    await rebuildMemberships(session.sql)
    await service.startBuilder()
    await project(caller, late)
    await expect.poll(() => productsOf(caller, collection)).toEqual(['Late'])
    await expect.poll(() => membershipDifferences(caller)).toEqual([])
  })

  it.each<[string, Parameters<typeof catalog.answerWith>[0]]>([
    ['fails', (response) => response.writeHead(503).end('{}')],
    ['answers nonsense', (response) => response.writeHead(200).end('<html>')],
    ['hangs up', (response) => response.destroy()],
  ])('while the catalog %s it is service_unavailable, and nothing is added', async (_, answer) => {
    const caller = aCaller()
    const [a] = await products(caller, 'A')
    const collection = await create(caller)
    catalog.answerWith(answer)
    const { status, body } = await add(caller, collection, [a?.id, randomUUID()])
    expect([status, body.error.code]).toEqual([503, 'service_unavailable'])
    expect(await productsOf(caller, collection)).toEqual([])
    expect((await add(caller, collection, [a?.id])).status).toBe(204)
  })
})

describe('A product that the workspace does not have', () => {
  it('is unprocessable, by the index of the first, and nothing is added', async () => {
    const caller = aCaller()
    const [a] = await products(caller, 'A')
    const [theirs] = await products(aCaller(), 'Theirs')
    const collection = await create(caller)
    const { status, headers, body } = await add(caller, collection, [a?.id, theirs?.id, randomUUID()])
    expect([status, headers['error-reason'], body.error.message]).toEqual([
      422,
      'unknown_reference',
      `products[1]: this workspace has no product ${theirs?.id}`,
    ])
    expect(await productsOf(caller, collection)).toEqual([])
  })

  it('and was deleted is refused', async () => {
    const caller = aCaller()
    const [a] = await products(caller, 'A')
    const collection = await create(caller)
    if (a) await project(caller, a.id)
    expect((await add(caller, collection, [a?.id])).status).toBe(422)
  })

  it('is not looked for when there is no such collection or it is SMART', async () => {
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
    expect(catalog.requests).toHaveLength(0)
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
