import type { Collection } from '@backoffice/contracts/collection.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { collectionsService } from '../testing/collections-api.ts'

const { admin, send, create, products, project, takeStatements } = await collectionsService()

const get = (caller: Caller, handle: string) => send<Collection>(caller, 'GET', `/v1/collections/${handle}`)
const statusOf = async (caller: Caller, handle: string) => (await get(caller, handle)).status

describe('Get rules: resolves a single published collection', () => {
  it('by its handle, and by its id in either case', async () => {
    const caller = aCaller()
    const collection = await create(caller)
    for (const named of [collection.handle, collection.id, collection.id.toUpperCase()]) {
      expect(await get(caller, named)).toMatchObject({ status: 200, body: collection })
    }
  })

  it('by a handle in any script, however its accents are encoded', async () => {
    const caller = aCaller()
    const tea = await create(caller, { name: '日本茶' })
    const cafe = await create(caller, { handle: 'café' })
    expect((await get(caller, encodeURIComponent('日本茶'))).body).toEqual(tea)
    for (const written of ['café', 'cafe\u0301']) {
      expect((await get(caller, encodeURIComponent(written))).body).toEqual(cafe)
    }
  })

  it('with exactly the members of the specification: neither membership nor rules nor the window', async () => {
    const caller = aCaller()
    const rules = { match: 'any', conditions: [{ field: 'tag', operator: 'eq', value: 'summer' }] }
    const { id } = await create(caller, {
      membership_type: 'SMART',
      rules,
      description: 'Warm',
      seo: { title: 'Hot', description: 'Very' },
      sort_order: 'TITLE_ASC',
      unpublish_at: '2999-01-01T00:00:00Z',
    })
    const { body } = await get(caller, id)
    expect(body).toEqual({
      id,
      handle: 'summer',
      name: 'Summer',
      description: 'Warm',
      seo_title: 'Hot',
      seo_description: 'Very',
      sort_order: 'TITLE_ASC',
      product_count: 0,
      created_at: expect.any(String),
      updated_at: body.created_at,
    })
  })

  it('with the count of its storefront-available products (OP-20)', async () => {
    const caller = aCaller()
    const { id } = await create(caller)
    const [shirt, cap] = await products(caller, 'Shirt', 'Cap')
    await send(caller, 'POST', `/v1/collections/${id}/products`, { products: [shirt?.id, cap?.id] })
    expect((await get(caller, id)).body.product_count).toBe(2)
    if (shirt) await project(caller, { ...shirt, status: 'HIDDEN', version: 2 })
    expect((await get(caller, id)).body.product_count).toBe(1)
  })

  it('with one statement besides the transaction’s own', async () => {
    const caller = aCaller()
    const { handle } = await create(caller)
    takeStatements()
    await get(caller, handle)
    expect(takeStatements().length).toBeLessThanOrEqual(4)
  })
})

describe('Collection visibility: published, and the database’s time is in the window', () => {
  it.each([
    ['a draft', { published: false }, {}, 404],
    ['a draft inside its window', { published: false }, { publish_at: '-1 hour', unpublish_at: '1 hour' }, 404],
    ['without a window', {}, {}, 200],
    ['before its window', {}, { publish_at: '1 hour' }, 404],
    ['once its window has begun', {}, { publish_at: '-1 second' }, 200],
    ['inside its window', {}, { publish_at: '-1 hour', unpublish_at: '1 hour' }, 200],
    ['before its window ends', {}, { unpublish_at: '1 hour' }, 200],
    ['when its window is over', {}, { unpublish_at: '-1 second' }, 404],
  ])('%s: a read answers accordingly, with its products too', async (_, members, window, status) => {
    const caller = aCaller()
    const { id, handle } = await create(caller, members)
    const { publish_at, unpublish_at }: { publish_at?: string; unpublish_at?: string } = window
    await admin`
      update collection set
        publish_at = now() + ${publish_at ?? null}::interval, unpublish_at = now() + ${unpublish_at ?? null}::interval
      where id = ${id}`
    for (const path of [id, handle, `${handle}/products`])
      expect([path, await statusOf(caller, path)]).toEqual([path, status])
  })

  it('is told apart neither by code nor message from a collection that is not there', async () => {
    const caller = aCaller()
    await create(caller, { published: false })
    for (const handle of ['summer', 'winter', '0193a1b2-0000-7000-8000-000000000000']) {
      for (const path of [handle, `${handle}/products`]) {
        const { status, body } = await send(caller, 'GET', `/v1/collections/${path}`)
        expect([status, body.error.code, body.error.message]).toEqual([
          404,
          'not_found',
          `handle: this workspace has no published collection "${handle}"`,
        ])
      }
    }
  })
})

it('Workspaces: another one’s collection is not there, by handle or id, and live and sandbox have their own', async () => {
  const live = aCaller()
  const sandbox = aCaller({ livemode: false })
  const [one, other] = [await create(live), await create(sandbox)]
  expect([one.handle, other.handle]).toEqual(['summer', 'summer'])
  expect((await get(live, 'summer')).body.id).toBe(one.id)
  expect((await get(sandbox, 'summer')).body.id).toBe(other.id)
  expect([await statusOf(live, other.id), await statusOf(aCaller(), 'summer')]).toEqual([404, 404])
})

it.each([
  ['%00', 400],
  ['a'.repeat(256), 400],
  ['a'.repeat(255), 404],
  ['%C3', 400],
  ['summer%27%20or%201=1', 404],
])('a path that names no collection is refused: %j', async (handle, status) => {
  expect(await statusOf(aCaller(), handle)).toBe(status)
})
