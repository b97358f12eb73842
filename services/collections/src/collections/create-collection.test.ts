import { randomUUID } from 'node:crypto'
import type { Collection } from '@backoffice/contracts/collection.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { collectionsService } from '../testing/collections-api.ts'

const { admin, send, create, products, productsOf, takeStatements, published } = await collectionsService()

const inStock = { match: 'all', conditions: [{ field: 'stock', operator: 'gt', value: 0 }] }
const post = (caller: Caller, body: unknown, headers?: Record<string, string>) =>
  send<Collection & { error?: { code: string; message: string } }>(caller, 'POST', '/v1/collections', body, headers)

describe('Create rule 1: makes a MANUAL or a SMART collection', () => {
  it('MANUAL unless told otherwise, a draft without products (OP-31), all that is not sent unset', async () => {
    const caller = aCaller()
    await products(caller, 'Shirt')
    const { status, body } = await post(caller, { name: 'Summer Sale' })
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(String),
        handle: 'summer-sale',
        name: 'Summer Sale',
        description: null,
        seo_title: null,
        seo_description: null,
        sort_order: 'MANUAL',
        product_count: 0,
        created_at: expect.any(String),
        updated_at: body.created_at,
      },
    ])
    const [row] = await admin`select membership_type, published from collection where id = ${body.id}`
    expect(row).toEqual({ membership_type: 'MANUAL', published: false })
  })

  it('with all that is sent', async () => {
    const { body } = await post(aCaller(), {
      name: 'Summer',
      handle: 'été-2026',
      description: '',
      seo: { title: 'Sun', description: 'Sea' },
      sort_order: 'STOCK_DESC',
      published: true,
      publish_at: '2026-01-01T02:00:00.5+02:00',
      unpublish_at: '2026-02-01T00:00:00Z',
    })
    expect(body).toMatchObject({ handle: 'été-2026', description: '', seo_title: 'Sun', sort_order: 'STOCK_DESC' })
    const [row] = await admin`select publish_at, unpublish_at from collection where id = ${body.id}`
    expect(row).toEqual({
      publish_at: new Date('2026-01-01T00:00:00.500Z'),
      unpublish_at: new Date('2026-02-01T00:00:00Z'),
    })
  })

  it('null stands for unset where a member can be unset (OP-09)', async () => {
    const unset = { handle: null, description: null, image: null, seo: null, publish_at: null, unpublish_at: null }
    const { status, body } = await post(aCaller(), { name: 'Summer', ...unset })
    expect([status, body.handle]).toEqual([201, 'summer'])
    const { status: partly } = await post(aCaller(), { name: 'Summer', seo: { title: null } })
    expect(partly).toBe(201)
  })

  it('SMART with the products that its rules gather, a draft’s too', async () => {
    const caller = aCaller()
    await products(caller, 'Shirt', 'Cap')
    const smart = { name: 'In stock', membership_type: 'SMART', rules: inStock }
    expect((await post(caller, smart)).body.product_count).toBe(2)
    const published = await create(caller, { ...smart, sort_order: 'TITLE_ASC' })
    expect(await productsOf(caller, published)).toEqual(['Cap', 'Shirt'])
  })

  it('SMART needs rules', async () => {
    for (const rules of [undefined, null]) {
      const { status, body } = await post(aCaller(), { name: 'Summer', membership_type: 'SMART', rules })
      expect([status, body.error?.code, body.error?.message]).toEqual([
        400,
        'bad_request',
        'rules: is required when membership_type is SMART',
      ])
    }
  })

  it.each([[{ match: 'none' }], ['nonsense'], [null], [[]], [7]])(
    'rules are ignored, whatever they are, unless it is SMART: %j',
    async (rules) => {
      const { status, body } = await post(aCaller(), { name: 'Summer', membership_type: 'MANUAL', rules })
      expect(status).toBe(201)
      const [row] = await admin`select rules from collection where id = ${body.id}`
      expect(row).toEqual({ rules: null })
    },
  )
})

describe('The handle (OP-32)', () => {
  it('is derived from the name and made unique by a number', async () => {
    const caller = aCaller()
    const handles: string[] = []
    for (let n = 0; n < 4; n++) handles.push((await create(caller)).handle)
    expect(handles).toEqual(['summer', 'summer-2', 'summer-3', 'summer-4'])
    await create(caller, { handle: 'summer-41' })
    expect((await create(caller)).handle).toBe('summer-42')
    expect((await create(caller, { name: 'Summer 42' })).handle).toBe('summer-42-2')
  })

  it('gets a number although the name of another collection ends with the highest', async () => {
    const caller = aCaller()
    const handles: string[] = []
    for (const name of ['Summer 999999999', 'Summer', 'Summer', 'Summer']) {
      handles.push((await create(caller, { name })).handle)
    }
    expect(handles).toEqual(['summer-999999999', 'summer', 'summer-2', 'summer-3'])
  })

  it('that is sent and taken is conflict, and nothing is made', async () => {
    const caller = aCaller()
    await create(caller)
    const { status, body } = await post(caller, { name: 'Other', handle: 'summer' })
    expect([status, body.error?.code, body.error?.message]).toEqual([
      409,
      'conflict',
      'handle: "summer" belongs to another collection of this workspace; send another one',
    ])
    expect(await published(caller)).toHaveLength(1)
  })

  it('that another workspace has is free', async () => {
    await create(aCaller(), { handle: 'winter' })
    expect((await create(aCaller(), { handle: 'winter' })).handle).toBe('winter')
  })

  it.each(['ﷺ'.repeat(255), 'Preview', '0193a1b2-0000-7000-8000-000000000000', '…'])(
    'leads to the collection, whatever the name: %j',
    async (name) => {
      const caller = aCaller()
      for (const made of [await create(caller, { name }), await create(caller, { name })]) {
        const path = `/v1/collections/${encodeURIComponent(made.handle)}`
        expect((await send<Collection>(caller, 'GET', path)).body).toEqual(made)
      }
    },
  )
})

describe('collection.created', () => {
  it('has exactly what the response has, product_count too, and the livemode of the workspace (OP-67)', async () => {
    const caller = aCaller({ livemode: false })
    await products(caller, 'Shirt')
    const { body } = await post(caller, { name: 'Summer', membership_type: 'SMART', rules: inStock })
    expect(body.product_count).toBe(1)
    expect(await published(caller)).toEqual([
      { type: 'collection.created', key: body.id, payload: body, livemode: false },
    ])
  })
})

describe('Idempotency-Key (OP-08)', () => {
  it('a request that is repeated makes nothing and gets the first answer', async () => {
    const caller = aCaller()
    const headers = { 'idempotency-key': randomUUID() }
    const first = await post(caller, { name: 'Summer' }, headers)
    const again = await post(caller, { name: 'Summer' }, headers)
    expect([again.status, again.body]).toEqual([201, first.body])
    expect(await published(caller)).toHaveLength(1)
    const other = await post(caller, { name: 'Winter' }, headers)
    expect([other.status, other.body.error?.code]).toEqual([409, 'conflict'])
  })

  it('the same request many times at once makes one collection', async () => {
    const caller = aCaller()
    const headers = { 'idempotency-key': randomUUID() }
    const answers = await Promise.all(Array.from({ length: 8 }, () => post(caller, { name: 'Summer' }, headers)))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1)
    expect(await published(caller)).toHaveLength(1)
  })
})

it('needs the scope product::create', async () => {
  const { status, body } = await post(aCaller({ scopes: ['product::update'] }), { name: 'Summer' })
  expect([status, body.error?.message]).toEqual([403, 'API key lacks required scope: product::create'])
})

it.each([[{ name: 'Summer' }], [{ name: 'Summer', membership_type: 'SMART', rules: inStock, handle: 'mine' }]])(
  'takes at most ten statements, the transaction’s own too: %j',
  async (body) => {
    const caller = aCaller()
    await products(caller, 'Shirt', 'Cap')
    takeStatements()
    expect((await post(caller, body)).status).toBe(201)
    expect(takeStatements().length).toBeLessThanOrEqual(10)
  },
)
