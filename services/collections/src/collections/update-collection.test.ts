import type { Collection } from '@backoffice/contracts/collection.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { collectionsService } from '../testing/collections-api.ts'

let now = new Date()
const service = await collectionsService(undefined, () => now)
const { admin, send, create, products, productsOf, takeStatements, published } = service

const inStock = { match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 0 }] }
const none = { match: 'all', conditions: [{ field: 'stock', operator: 'lt', value: 0 }] }
const put = (caller: Caller, handle: string, body: unknown) =>
  send<Collection & { error?: { code: string; message: string } }>(
    caller,
    'PUT',
    `/v1/collections/${encodeURIComponent(handle)}`,
    body,
  )
const later = (ms: number) => {
  now = new Date(now.getTime() + ms)
}

describe('Update rule 2: edits the collection’s details, those that are sent', () => {
  it.each([
    [{ name: 'Winter' }, { name: 'Winter' }],
    [{ handle: 'winter' }, { handle: 'winter' }],
    [{ description: 'Cold' }, { description: 'Cold' }],
    [{ description: null }, { description: null }],
    [{ seo: { title: 'Snow' } }, { seo_title: 'Snow' }],
    [{ seo: { description: 'Ice' } }, { seo_description: 'Ice' }],
    [{ seo: { title: null } }, { seo_title: null }],
    [{ seo: null }, { seo_title: null, seo_description: null }],
    [{ sort_order: 'TITLE_DESC' }, { sort_order: 'TITLE_DESC' }],
  ])('%j', async (sent, changed) => {
    const caller = aCaller()
    const before = await create(caller, { description: 'Warm', seo: { title: 'Sun', description: 'Sea' } })
    later(1000)
    const { status, body } = await put(caller, before.handle, sent)
    expect([status, body]).toEqual([200, { ...before, ...changed, updated_at: now.toISOString() }])
    expect((await send(caller, 'GET', `/v1/collections/${before.id}`)).body).toEqual(body)
    expect(await published(caller)).toEqual([
      { type: 'collection.created', key: before.id, payload: before, livemode: true },
      { type: 'collection.updated', key: before.id, payload: body, livemode: true },
    ])
  })

  it('publishes, schedules and takes back', async () => {
    const caller = aCaller()
    const { id } = await create(caller, { published: false })
    const visible = async (body: unknown) => {
      expect((await put(caller, id, body)).status).toBe(200)
      return (await send(caller, 'GET', `/v1/collections/${id}`)).status === 200
    }
    expect(await visible({ published: true })).toBe(true)
    expect(await visible({ publish_at: '2999-01-01T00:00:00Z' })).toBe(false)
    expect(await visible({ publish_at: null })).toBe(true)
    expect(await visible({ publish_at: '2020-01-01T00:00:00Z', unpublish_at: '2020-01-02T00:00:00Z' })).toBe(false)
    expect(await visible({ unpublish_at: null })).toBe(true)
    expect(await visible({ published: false })).toBe(false)
  })

  it('a window that ends before it starts, or as it starts, is unprocessable with what was there before, and nothing is applied', async () => {
    const caller = aCaller()
    const before = await create(caller, { publish_at: '2020-01-02T00:00:00Z' })
    for (const unpublish_at of ['2020-01-01T00:00:00Z', '2020-01-02T01:00:00+01:00']) {
      const { status, body } = await put(caller, before.id, { name: 'Other', unpublish_at })
      expect([status, body.error?.code]).toEqual([422, 'unprocessable'])
      expect(body.error?.message).toBe('unpublish_at: must be later than publish_at')
    }
    expect((await send(caller, 'GET', `/v1/collections/${before.id}`)).body).toEqual(before)
  })

  it('a handle that is taken is conflict and nothing is applied; its own is none; one let go is free', async () => {
    const caller = aCaller()
    const [one, other] = [await create(caller, { name: 'One' }), await create(caller, { name: 'Other' })]
    const { status, body } = await put(caller, one.id, { handle: 'other', description: 'x' })
    expect([status, body.error?.code]).toEqual([409, 'conflict'])
    expect(body.error?.message).toBe(
      'handle: "other" belongs to another collection of this workspace; send another one',
    )
    expect((await put(caller, one.id, { handle: 'one' })).body).toEqual(one)
    expect((await put(caller, 'other', { handle: 'another' })).body.handle).toBe('another')
    expect((await put(caller, 'other', { name: 'x' })).status).toBe(404)
    expect((await put(caller, one.id, { handle: 'other' })).body.handle).toBe('other')
    expect((await put(caller, 'another', {})).body.id).toBe(other.id)
  })

  it('a derived handle is made unique with those that were changed in mind', async () => {
    const caller = aCaller()
    const { id } = await create(caller, { name: 'One' })
    await put(caller, id, { handle: 'summer-7' })
    await create(caller)
    expect((await create(caller)).handle).toBe('summer-8')
  })
})

describe('What changes nothing answers 200, fires nothing and leaves updated_at (OP-73)', () => {
  it.each([
    [{}],
    [{ name: 'Summer', handle: 'summer', description: null, seo: {}, image: null }],
    [{ seo: { title: null }, sort_order: 'MANUAL', membership_type: 'MANUAL', published: true }],
    [{ rules: inStock }],
    [{ rules: 'nonsense', membership_type: 'MANUAL' }],
  ])('%j', async (body) => {
    const caller = aCaller()
    const before = await create(caller)
    later(1000)
    expect(await put(caller, before.id, body)).toMatchObject({ status: 200, body: before })
    expect(await published(caller)).toHaveLength(1)
  })

  it('the rules a SMART collection has, sent again, gather nothing anew', async () => {
    const caller = aCaller()
    const before = await create(caller, { membership_type: 'SMART', rules: inStock })
    const versions = () => admin`select number from membership_version where collection_id = ${before.id}`
    const shown = await versions()
    const { conditions, match } = inStock
    await put(caller, before.id, { membership_type: 'SMART', rules: { conditions, match } })
    expect(await published(caller)).toHaveLength(1)
    expect(await versions()).toEqual(shown)
  })
})

describe('The rules of a SMART collection', () => {
  it('are replaced whole by those that are sent, and gather anew', async () => {
    const caller = aCaller()
    await products(caller, 'Shirt')
    const { id } = await create(caller, { membership_type: 'SMART', rules: none })
    const { body } = await put(caller, id, { rules: inStock })
    expect(body.product_count).toBe(1)
    expect(await published(caller)).toMatchObject([{}, { type: 'collection.updated', payload: body }])
  })

  it('stay when they are not sent, cannot be unset, and are checked', async () => {
    const caller = aCaller()
    await products(caller, 'Shirt')
    const before = await create(caller, { membership_type: 'SMART', rules: inStock })
    expect((await put(caller, before.id, { membership_type: 'SMART', name: 'x' })).body.product_count).toBe(1)
    const refused = [
      [null, 'rules: is required when membership_type is SMART'],
      [{ match: 'all' }, 'rules.conditions: '],
    ]
    for (const [rules, message] of refused) {
      const { status, body } = await put(caller, before.id, { rules })
      expect([status, body.error?.code]).toEqual([400, 'bad_request'])
      expect(body.error?.message).toContain(message)
    }
  })
})

it('sort_order orders the products anew', async () => {
  const caller = aCaller()
  const [b, a, c] = await products(caller, 'B', 'A', 'C')
  const { id } = await create(caller)
  await send(caller, 'POST', `/v1/collections/${id}/products`, { products: [b?.id, a?.id, c?.id] })
  const orders: string[] = []
  for (const sort_order of ['TITLE_ASC', 'TITLE_DESC', 'CREATED_ASC', 'CREATED_DESC', 'MANUAL']) {
    expect((await put(caller, id, { sort_order })).body.product_count).toBe(3)
    orders.push((await productsOf(caller, { id })).join(''))
  }
  expect([orders[0], orders[1], orders[4]]).toEqual(['ABC', 'CBA', 'BAC'])
})

describe('Update rule 3: writes resolve drafts too', () => {
  it('by handle and id, and those outside their window', async () => {
    const caller = aCaller()
    const draft = await create(caller, { published: false })
    expect((await put(caller, draft.handle, { description: 'x' })).body.description).toBe('x')
    const over = await create(caller, { unpublish_at: '2020-01-01T00:00:00Z' })
    expect((await put(caller, over.id.toUpperCase(), { description: 'x' })).body.description).toBe('x')
  })

  it('and refuse what is not there, another workspace’s too', async () => {
    const { id } = await create(aCaller())
    for (const handle of ['summer', id, '日本茶']) {
      const { status, body } = await put(aCaller(), handle, { name: 'x' })
      expect([status, body.error?.code]).toEqual([404, 'not_found'])
      expect(body.error?.message).toBe(`handle: this workspace has no collection "${handle}"`)
    }
  })
})

it('updated_at goes on with each change, also when the clock went back, and so do the times of the events', async () => {
  const caller = aCaller()
  const before = await create(caller)
  const { headers } = await send(caller, 'GET', `/v1/collections/${before.id}`)
  later(-60_000)
  const change = async (publish_at: string) => {
    const condition = { 'if-match': String(headers.etag) }
    return (await send(caller, 'PUT', `/v1/collections/${before.id}`, { publish_at }, condition)).status
  }
  expect([await change('2020-01-01T00:00:00Z'), await change('2021-01-01T00:00:00Z')]).toEqual([200, 412])
  const { body } = await put(caller, before.id, { name: 'Winter' })
  const created = Date.parse(before.updated_at)
  expect([Date.parse(body.updated_at), body.created_at]).toEqual([created + 2, before.created_at])
  const times = await admin`select occurred_at from outbox where workspace_id = ${caller.workspaceId} order by id`
  expect(times.map(({ occurred_at }) => occurred_at.getTime())).toEqual([created, created + 1, created + 2])
  later(60_000)
})

it('needs the scope product::update', async () => {
  const caller = aCaller()
  const { id } = await create(caller)
  const { status } = await put({ ...caller, scopes: ['product::create', 'product::read'] }, id, {})
  expect(status).toBe(403)
})

it.each([
  [{ membership_type: 'MANUAL', sort_order: 'MANUAL', name: 'x' }],
  [{ membership_type: 'SMART', rules: inStock, handle: 'x', sort_order: 'TITLE_ASC' }],
])('takes at most ten statements, the transaction’s own too: %j', async (body) => {
  const caller = aCaller()
  const [shirt] = await products(caller, 'Shirt', 'Cap')
  const picked = await create(caller, { sort_order: 'TITLE_ASC' })
  await send(caller, 'POST', `/v1/collections/${picked.id}/products`, { products: [shirt?.id] })
  const ruled = await create(caller, { membership_type: 'SMART', rules: none })
  for (const { id } of [picked, ruled]) {
    takeStatements()
    expect((await put(caller, id, body)).status).toBe(200)
    expect(takeStatements().length).toBeLessThanOrEqual(10)
    await put(caller, id, { handle: id === picked.id ? 'y' : 'z' })
  }
})
