import { randomUUID } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { collectionsService } from '../testing/collections-api.ts'

const { admin, send, create, products, published } = await collectionsService()

const condition = { field: 'stock', operator: 'gt', value: 0 }
const ruled = (...conditions: unknown[]) => ({ membership_type: 'SMART', rules: { match: 'all', conditions } })

/** Invalid members of a collection, each with the path that the message begins with. */
const WRONG: [string, Record<string, unknown>][] = [
  ['name', { name: '' }],
  ['name', { name: '  ' }],
  ['name', { name: 'x'.repeat(256) }],
  ['name', { name: null }],
  ['name', { name: 7 }],
  ['name', { name: 'a\0b' }],
  ['handle', { handle: '' }],
  ['handle', { handle: 'Summer' }],
  ['handle', { handle: 'summer sale' }],
  ['handle', { handle: 'a/b' }],
  ['handle', { handle: '-a' }],
  ['handle', { handle: 'preview' }],
  ['handle', { handle: 'x'.repeat(256) }],
  ['handle', { handle: '0193a1b2-0000-7000-8000-000000000000' }],
  ['description', { description: 'x'.repeat(65_537) }],
  ['description', { description: ['x'] }],
  ['image', { image: 'cover.png' }],
  ['seo', { seo: 'Sun' }],
  ['seo.title', { seo: { title: '' } }],
  ['seo.title', { seo: { title: 'x'.repeat(256) } }],
  ['seo.keywords', { seo: { keywords: 'sun' } }],
  ['sort_order', { sort_order: 'PRICE_ASC' }],
  ['sort_order', { sort_order: null }],
  ['membership_type', { membership_type: 'AUTO' }],
  ['membership_type', { membership_type: null }],
  ['published', { published: 'yes' }],
  ['published', { published: null }],
  ['publish_at', { publish_at: 'tomorrow' }],
  ['publish_at', { publish_at: '2026-01-01T00:00:00' }],
  ['publish_at', { publish_at: 1_767_225_600 }],
  ['unpublish_at', { unpublish_at: '2026-02-30T00:00:00Z' }],
  ['colour', { colour: 'red' }],
  ['product_count', { product_count: 3 }],
  ['rules', { membership_type: 'SMART', rules: 'stock > 0' }],
  ['rules.match', { membership_type: 'SMART', rules: { match: 'none', conditions: [condition] } }],
  ['rules.conditions', { membership_type: 'SMART', rules: { match: 'all' } }],
  ['rules.conditions', ruled()],
  ['rules.conditions', ruled(...Array.from({ length: 61 }, () => condition))],
  ['rules.order', { membership_type: 'SMART', rules: { match: 'all', conditions: [condition], order: 1 } }],
  ['rules.conditions[0].field', ruled({ ...condition, field: 'colour' })],
  ['rules.conditions[1].operator', ruled(condition, { ...condition, operator: 'matches' })],
  ['rules.conditions[0].value', ruled({ ...condition, value: '0' })],
  ['rules.conditions[0].value', ruled({ field: 'stock', operator: 'gt' })],
  ['rules.conditions[0].unit', ruled({ ...condition, unit: 'kg' })],
]

describe('bad_request names the member by its path, and nothing is applied (OP-09)', () => {
  it.each(WRONG)('create: %s in %j', async (path, members) => {
    const caller = aCaller()
    const { status, body } = await send(caller, 'POST', '/v1/collections', { name: 'Summer', ...members })
    expect([status, body.error.code]).toEqual([400, 'bad_request'])
    expect(body.error.message.startsWith(`${path}: `), body.error.message).toBe(true)
    expect(await admin`select from collection where workspace_id = ${caller.workspaceId}`).toHaveLength(0)
  })

  it.each([...WRONG, ['handle', { handle: null }]] as typeof WRONG)('update: %s in %j', async (path, members) => {
    const caller = aCaller()
    const before = await create(caller)
    const { status, body } = await send(caller, 'PUT', '/v1/collections/summer', { description: 'x', ...members })
    expect([status, body.error.code]).toEqual([400, 'bad_request'])
    expect(body.error.message.startsWith(`${path}: `), body.error.message).toBe(true)
    expect((await send(caller, 'GET', `/v1/collections/${before.id}`)).body).toEqual(before)
    expect(await published(caller)).toHaveLength(1)
  })

  it('create without a name, and without a body', async () => {
    for (const [sent, message] of [
      [{}, 'name: is required'],
      [undefined, 'body: is required'],
    ]) {
      const { status, body } = await send(aCaller(), 'POST', '/v1/collections', sent)
      expect([status, body.error.message]).toEqual([400, message])
    }
  })
})

it('a window that ends before it starts is unprocessable, and nothing is made', async () => {
  const caller = aCaller()
  const window = { publish_at: '2026-02-01T00:00:00Z', unpublish_at: '2026-01-01T00:00:00Z' }
  const { status, body } = await send(caller, 'POST', '/v1/collections', { name: 'Summer', ...window })
  expect([status, body.error.message]).toEqual([422, 'unpublish_at: must be later than publish_at'])
  expect(await published(caller)).toHaveLength(0)
})

describe('members of a collection', () => {
  const id = randomUUID()
  const many = (count: number) => Array.from({ length: count }, () => randomUUID())
  const place = (product: unknown, position: unknown) => ({ positions: [{ product, position }] })

  it.each<[string, 'POST' | 'DELETE' | 'PUT', string, unknown]>([
    ['products', 'POST', 'products', {}],
    ['products', 'POST', 'products', { products: [] }],
    ['products', 'POST', 'products', { products: many(1001) }],
    ['products', 'POST', 'products', { products: id }],
    ['products[1]', 'POST', 'products', { products: [id, 'shirt'] }],
    ['product', 'POST', 'products', { products: [id], product: id }],
    ['products', 'DELETE', 'products', {}],
    ['products', 'DELETE', 'products', { products: [] }],
    ['products', 'DELETE', 'products', { products: many(1001) }],
    ['products[0]', 'DELETE', 'products', { products: [7] }],
    ['positions', 'PUT', 'products/order', {}],
    ['positions', 'PUT', 'products/order', { positions: [] }],
    [
      'positions',
      'PUT',
      'products/order',
      { positions: many(1001).map((product, position) => ({ product, position })) },
    ],
    ['positions[0].product', 'PUT', 'products/order', place('shirt', 0)],
    ['positions[0].position', 'PUT', 'products/order', place(id, -1)],
    ['positions[0].position', 'PUT', 'products/order', place(id, 1.5)],
    ['positions[0].position', 'PUT', 'products/order', place(id, '1')],
    ['positions[0].position', 'PUT', 'products/order', place(id, 2 ** 53)],
    ['positions[0].position', 'PUT', 'products/order', { positions: [{ product: id }] }],
    ['positions[0].tie', 'PUT', 'products/order', { positions: [{ product: id, position: 1, tie: 2 }] }],
  ])('bad_request names %s: %s %s %j', async (path, method, under, sent) => {
    const caller = aCaller()
    const collection = await create(caller)
    const { status, body } = await send(caller, method, `/v1/collections/${collection.id}/${under}`, sent)
    expect([status, body.error.code]).toEqual([400, 'bad_request'])
    expect(body.error.message.startsWith(`${path}: `), body.error.message).toBe(true)
  })

  it.each<['POST' | 'DELETE' | 'PUT', string, unknown]>([
    ['POST', 'products', { products: [id] }],
    ['DELETE', 'products', { products: [id] }],
    ['PUT', 'products/order', place(id, 0)],
  ])(
    '%s %s: a SMART collection is unprocessable, one that is not there, or another workspace’s, not_found',
    async (method, under, sent) => {
      const caller = aCaller()
      await products(caller, 'Shirt')
      const smart = await create(caller, ruled(condition))
      const { status, body } = await send(caller, method, `/v1/collections/${smart.handle}/${under}`, sent)
      expect([status, body.error.code, body.error.message]).toEqual([
        422,
        'unprocessable',
        'handle: the products of a SMART collection follow its rules; send membership_type MANUAL to pick them by hand',
      ])
      for (const handle of ['winter', (await create(aCaller())).id]) {
        const missing = await send(caller, method, `/v1/collections/${handle}/${under}`, sent)
        expect([missing.status, missing.body.error.code]).toEqual([404, 'not_found'])
      }
    },
  )
})
