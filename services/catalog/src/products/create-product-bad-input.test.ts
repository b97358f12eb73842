import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { afterEach, expect, it } from 'vitest'
import { createProduct } from './create-product.ts'
import { aSimpleProduct, aVariableProduct } from './testing/product-samples.ts'

const { admin, db } = await testDatabase('catalog')
const send = serviceClient(db, [createProduct])

const currencies = Intl.supportedValuesOf('currency')
const SIZE = { name: 'Size', values: ['S', 'M'] }
const variant = (sku: string, attributes: Record<string, unknown> = { Size: 'S' }, members = {}) => ({
  sku,
  attributes,
  stock: 1,
  ...members,
})

afterEach(async () => {
  const rows = await admin`select from product union all select from option union all select from outbox`
  expect(rows.length, 'rows written by a refused request').toBe(0)
})

it.each<[string, Record<string, unknown>]>([
  ['name', aSimpleProduct({ name: undefined })],
  ['name', aSimpleProduct({ name: '' })],
  ['name', aSimpleProduct({ name: '   ' })],
  ['name', aSimpleProduct({ name: 'x'.repeat(256) })],
  ['name', aSimpleProduct({ name: null })],
  ['name', aSimpleProduct({ name: 7 })],
  ['name', aSimpleProduct({ name: 'a\0b' })],
  ['type', aSimpleProduct({ type: undefined })],
  ['type', aSimpleProduct({ type: 'SIMPLE' })],
  ['status', aSimpleProduct({ status: 'DRAFT' })],
  ['status', aSimpleProduct({ status: null })],
  ['slug', aSimpleProduct({ slug: 'Not A Slug' })],
  ['description', aSimpleProduct({ description: 'x'.repeat(65_537) })],
  ['category', aSimpleProduct({ category: {} })],
  ['category.id', aSimpleProduct({ category: { id: 'cups' } })],
  ['categories[0]', aSimpleProduct({ categories: [7] })],
  ['categories', aSimpleProduct({ categories: Array.from({ length: 1001 }, () => 'x') })],
  ['tags[1]', aSimpleProduct({ tags: ['a', ''] })],
  ['tax_class', aSimpleProduct({ tax_class: 'standard' })],
  ['requires_shipping', aSimpleProduct({ requires_shipping: 'yes' })],
  ['preorder_stops_at', aSimpleProduct({ preorder_stops_at: 'tomorrow' })],
  ['max_cart_quantity', aSimpleProduct({ max_cart_quantity: -1 })],
  ['low_stock_threshold', aSimpleProduct({ low_stock_threshold: 1.5 })],
  ['sku', aSimpleProduct({ sku: undefined })],
  ['sku', aSimpleProduct({ sku: '' })],
  ['sku', aSimpleProduct({ sku: ' padded' })],
  ['stock', aSimpleProduct({ stock: undefined })],
  ['stock', aSimpleProduct({ stock: -1 })],
  ['stock', aSimpleProduct({ stock: '4' })],
  ['stock', aSimpleProduct({ stock: 2 ** 53 })],
  ['price.ngn', aSimpleProduct({ price: { ngn: 1 } })],
  ['price.NAIRA', aSimpleProduct({ price: { NAIRA: 1 } })],
  ['price.NGN', aSimpleProduct({ price: { NGN: 1.5 } })],
  ['price.NGN', aSimpleProduct({ price: { NGN: -1 } })],
  ['price.NGN', aSimpleProduct({ price: { NGN: null } })],
  ['price', aSimpleProduct({ price: 450_000 })],
  ['price.ABC', aSimpleProduct({ price: { ABC: 1 } })],
  ['price', aSimpleProduct({ price: Object.fromEntries(currencies.slice(0, 51).map((code) => [code, 1])) })],
  ['cost.USD', aSimpleProduct({ cost: { USD: '3' } })],
  ['colour', aSimpleProduct({ colour: 'red' })],
  ['options', aVariableProduct({ options: undefined })],
  ['options', aVariableProduct({ options: [] })],
  ['options[0].values', aVariableProduct({ options: [{ name: 'Size', values: [] }] })],
  ['options[0].size', aVariableProduct({ options: [{ ...SIZE, size: 1 }] })],
  ['variants', aVariableProduct({ variants: undefined })],
  ['variants', aVariableProduct({ variants: [] })],
  ['variants', aVariableProduct({ variants: Array.from({ length: 2049 }, (_, index) => variant(`${index}`)) })],
  ['variants[0].sku', aVariableProduct({ variants: [{ attributes: { Size: 'S' }, stock: 1 }] })],
  ['variants[0].stock', aVariableProduct({ variants: [variant('a', undefined, { stock: -2 })] })],
  ['variants[0].attributes.Size', aVariableProduct({ variants: [variant('a', { Size: 1 })] })],
  ['variants[0].price.usd', aVariableProduct({ variants: [variant('a', undefined, { price: { usd: 1 } })] })],
])('refuses a wrong %s with bad_request naming it (OP-09): %j', async (path, body) => {
  const answer = await send(aCaller(), 'POST', '/v1/products', body)
  expect([answer.status, answer.body.error.code]).toEqual([400, 'bad_request'])
  expect(answer.body.error.message).toContain(`${path}: `)
})

it.each<[string, Record<string, unknown>]>([
  ['options', aSimpleProduct({ options: [SIZE] })],
  ['variants', aSimpleProduct({ variants: [variant('a')] })],
  ['sku', aVariableProduct({ sku: 'a' })],
  ['price', aVariableProduct({ price: { NGN: 1 } })],
  ['cost', aVariableProduct({ cost: { NGN: 1 } })],
  ['stock', aVariableProduct({ stock: 1 })],
  ['options[1].name', aVariableProduct({ options: [SIZE, SIZE] })],
  ['options[0].values[2]', aVariableProduct({ options: [{ name: 'Size', values: ['S', 'M', 'S'] }] })],
  ['variants[1].sku', aVariableProduct({ variants: [variant('a'), variant('a', { Size: 'M' })] })],
  ['variants[1].attributes', aVariableProduct({ variants: [variant('a'), variant('b')] })],
  ['variants[0].attributes.Colour', aVariableProduct({ variants: [variant('a', { Size: 'S', Colour: 'Red' })] })],
  ['variants[0].attributes.Size', aVariableProduct({ variants: [variant('a', { Size: 'XXL' })] })],
  ['variants[0].attributes', aVariableProduct({ variants: [variant('a', {})] })],
  [
    'variants',
    aVariableProduct({
      variants: [variant('a', { Size: 'S' }, { stock: 2 ** 53 - 1 }), variant('b', { Size: 'M' }, { stock: 1 })],
    }),
  ],
])('refuses a contradiction in %s with unprocessable (OP-13, OP-15): %j', async (path, body) => {
  const answer = await send(aCaller(), 'POST', '/v1/products', body)
  expect([answer.status, answer.body.error.code]).toEqual([422, 'unprocessable'])
  expect(answer.body.error.message).toContain(`${path}: `)
})

it('needs the scope product::create (OP-04)', async () => {
  const answer = await send(aCaller({ scopes: ['product::read'] }), 'POST', '/v1/products', aSimpleProduct())
  expect([answer.status, answer.body.error.code]).toEqual([403, 'insufficient_scope'])
  expect(answer.body.error.message).toBe('API key lacks required scope: product::create')
})
