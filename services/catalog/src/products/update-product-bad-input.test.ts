import { randomUUID } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { afterEach, expect, it } from 'vitest'
import { aSimpleProduct } from './testing/product-samples.ts'
import { productApi } from './testing/products-api.ts'

const { create, read, refuse, recordsOf } = await productApi()
const caller = aCaller()
const before = await create(caller, aSimpleProduct({ tags: ['Old'], category: { name: 'Cups' } }))

afterEach(async () => {
  expect(await read(caller, before.id), 'applied from a refused request').toEqual(before)
  expect(await recordsOf(before.id)).toHaveLength(2)
})

it.each<[string, Record<string, unknown>]>([
  ['name', { name: '' }],
  ['name', { name: '  ' }],
  ['name', { name: null }],
  ['name', { name: 'x'.repeat(256) }],
  ['name', { name: ['Cup'] }],
  ['type', { type: 'BUNDLE' }],
  ['type', { type: null }],
  ['status', { status: 'active' }],
  ['status', { status: null }],
  ['slug', { slug: '' }],
  ['slug', { slug: null }],
  ['slug', { slug: 'Two Words' }],
  ['slug', { slug: 'x'.repeat(256) }],
  ['description', { description: 7 }],
  ['description', { description: 'x'.repeat(65_537) }],
  ['category', { category: {} }],
  ['category', { category: 'Cups' }],
  ['category.id', { category: { id: 'cups' } }],
  ['category.name', { category: { name: '' } }],
  ['category.slug', { category: { name: 'a', slug: 'a' } }],
  ['categories', { categories: 'cups' }],
  ['categories[0]', { categories: [''] }],
  ['categories', { categories: Array.from({ length: 1001 }, () => 'cups') }],
  ['tags[0]', { tags: [' '] }],
  ['tags', { tags: Array.from({ length: 1001 }, (_, index) => `t${index}`) }],
  ['requires_shipping', { requires_shipping: null }],
  ['can_preorder', { can_preorder: 1 }],
  ['preorder_stops_at', { preorder_stops_at: '2026-05-01' }],
  ['preorder_stops_at', { preorder_stops_at: 1_780_000_000 }],
  ['max_cart_quantity', { max_cart_quantity: -1 }],
  ['max_cart_quantity', { max_cart_quantity: '2' }],
  ['low_stock_threshold', { low_stock_threshold: 0.5 }],
  ['tax_class', { tax_class: 'standard' }],
  ['purchase_note', { purchase_note: {} }],
  ['sku', { sku: '' }],
  ['sku', { sku: null }],
  ['sku', { sku: 'x'.repeat(256) }],
  ['price', { price: 100 }],
  ['price.usd', { price: { usd: 1 } }],
  ['price.US', { price: { US: 1 } }],
  ['price.USD', { price: { USD: -1 } }],
  ['price.USD', { price: { USD: 1.5 } }],
  ['price.USD', { price: { USD: '1' } }],
  ['cost.USD', { cost: { USD: 2 ** 53 } }],
  ['stock', { stock: -1 }],
  ['stock', { stock: null }],
  ['stock', { stock: 1.5 }],
  ['medias', { medias: {} }],
  ['medias[0]', { medias: [{}] }],
  ['medias[0]', { medias: [{ asset: null, id: null, position: 1 }] }],
  ['medias[0]', { medias: [{ id: randomUUID() }] }],
  ['medias[0].asset', { medias: [{ asset: 'front.png' }] }],
  ['medias[0].position', { medias: [{ asset: randomUUID(), position: -1 }] }],
  ['medias[0].position', { medias: [{ asset: randomUUID(), position: 2 ** 31 }] }],
  ['medias[0].url', { medias: [{ asset: randomUUID(), url: 'x' }] }],
  ['medias', { medias: Array.from({ length: 251 }, () => ({ asset: randomUUID() })) }],
  ['remove_medias', { remove_medias: randomUUID() }],
  ['remove_medias[0]', { remove_medias: ['front'] }],
  ['total_stock', { total_stock: 3 }],
  ['id', { id: randomUUID() }],
])('refuses with bad_request naming %s', async (path, members) => {
  const [status, code, message] = await refuse(caller, before.id, { description: 'Applied', ...members })
  expect([status, code]).toEqual([400, 'bad_request'])
  expect(message.startsWith(`${path}: `), message).toBe(true)
})

it.each([[], 'text', 7, null])('refuses a body that is no object: %j', async (body) => {
  const [status, code] = await refuse(caller, before.id, body)
  expect([status, code]).toEqual([400, 'bad_request'])
})
