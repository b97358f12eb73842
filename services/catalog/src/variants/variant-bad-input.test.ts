import { randomUUID } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { aSimpleProduct } from '../products/testing/product-samples.ts'
import { aVariant, catalogUnderTest } from './testing/variants-api.ts'

const { admin, send, newProduct, newProductWithoutOptions } = await catalogUnderTest()
const TABLES = ['product', 'variant', 'option', 'option_value', 'product_option', 'stock_movement', 'outbox']
const everything = () =>
  Promise.all(TABLES.map((table) => admin`select ctid, xmin, * from ${admin(table)} order by ctid`))

const made = await newProduct()
const without = await newProductWithoutOptions(made.caller)
const simple = await newProduct(aSimpleProduct(), made.caller)
const foreign = await newProduct()
const [first, second] = made.product.variants

/** Sends what must be refused, as a POST of a variant or a PUT of the members, and sees that nothing was applied. */
async function refused(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown, caller = made.caller) {
  const before = await everything()
  const answer = await send(caller, method, path, body)
  expect(await everything(), 'what a refused request left').toEqual(before)
  return [answer.status, answer.body.error.code, answer.body.error.message] as const
}

const WRONG: [string, Record<string, unknown>][] = [
  ['sku', { sku: null }],
  ['sku', { sku: '' }],
  ['sku', { sku: ' padded ' }],
  ['sku', { sku: 7 }],
  ['sku', { sku: 'x'.repeat(256) }],
  ['sku', { sku: 'a\0b' }],
  ['attributes', { attributes: ['S'] }],
  ['attributes', { attributes: 'S' }],
  ['attributes.Size', { attributes: { Size: 1 } }],
  ['attributes.Size', { attributes: { Size: null } }],
  ['attributes.Size', { attributes: { Size: '' } }],
  ['attributes.Size', { attributes: { Size: '  ' } }],
  ['attributes.Size', { attributes: { Size: 'x'.repeat(256) } }],
  ['attributes.', { attributes: { '': 'S' } }],
  [`attributes.${'x'.repeat(256)}`, { attributes: { ['x'.repeat(256)]: 'S' } }],
  ['price', { price: 5 }],
  ['price.ngn', { price: { ngn: 1 } }],
  ['price.NAIRA', { price: { NAIRA: 1 } }],
  ['price.NGN', { price: { NGN: 1.5 } }],
  ['price.NGN', { price: { NGN: -1 } }],
  ['price.NGN', { price: { NGN: '1' } }],
  ['price.NGN', { price: { NGN: 2 ** 53 } }],
  ['cost', { cost: [] }],
  ['cost.NGN', { cost: { NGN: null } }],
  ['stock', { stock: null }],
  ['stock', { stock: -1 }],
  ['stock', { stock: 1.5 }],
  ['stock', { stock: '1' }],
  ['stock', { stock: 2 ** 53 }],
  ['id', { id: randomUUID() }],
  ['position', { position: 1 }],
  ['options', { options: [] }],
]

it.each(WRONG)('refuses a wrong %s with bad_request naming it (OP-09): %j', async (path, members) => {
  for (const [method, target, body] of [
    ['POST', made.variants, aVariant('L', members)],
    ['PUT', made.variant(0), members],
  ] as const) {
    const [status, code, message] = await refused(method, target, body)
    expect([status, code]).toEqual([400, 'bad_request'])
    expect(message).toContain(`${path}: `)
  }
})

it.each([
  ['sku', undefined],
  ['attributes', undefined],
  ['attributes', null],
  ['stock', undefined],
])('needs %s on create: %j (OP-23)', async (member, value) => {
  const [status, code, message] = await refused('POST', made.variants, aVariant('L', { [member]: value }))
  expect([status, code]).toEqual([400, 'bad_request'])
  expect(message).toContain(`${member}: `)
})

it.each(['[]', '7', '"S"', 'null'])('takes only an object: %s', async (body) => {
  for (const [method, path] of [
    ['POST', made.variants],
    ['PUT', made.variant(0)],
  ] as const) {
    expect((await refused(method, path, body)).slice(0, 2)).toEqual([400, 'bad_request'])
  }
})

it('refuses a body on DELETE', async () => {
  expect((await refused('DELETE', made.variant(0), { force: true })).slice(0, 2)).toEqual([400, 'bad_request'])
})

it.each<[string, Record<string, unknown>]>([
  ['attributes.Colour: the product has no such option', { attributes: { Size: 'S', Colour: 'Red' } }],
  ['attributes.size: the product has no such option', { attributes: { size: 'L' } }],
  ['attributes: needs a value for the option "Size"', { attributes: {} }],
  [`attributes: the variant "${second?.sku}" has the same combination`, { attributes: { Size: 'M' } }],
  ['stock: ', { stock: Number.MAX_SAFE_INTEGER }],
])('refuses with unprocessable (OP-15, OP-94): %s', async (expected, members) => {
  for (const [method, target, body] of [
    ['POST', made.variants, aVariant('L', members)],
    ['PUT', made.variant(0), members],
  ] as const) {
    const [status, code, message] = await refused(method, target, body)
    expect([status, code]).toEqual([422, 'unprocessable'])
    expect(message).toContain(expected)
  }
})

it('needs attributes of the first variant too', async () => {
  const [status, code, message] = await refused('POST', without.variants, aVariant('', { attributes: {} }))
  expect([status, code]).toEqual([422, 'unprocessable'])
  expect(message).toBe('attributes: needs a value for at least one option')
})

it('refuses a SKU of this or another product with conflict naming it, the new value left out (OP-15)', async () => {
  for (const sku of [second?.sku, simple.product.variants[0]?.sku]) {
    for (const [method, target, body] of [
      ['POST', made.variants, aVariant('new', { sku })],
      ['PUT', made.variant(0), { sku, attributes: { Size: 'new' } }],
    ] as const) {
      expect(await refused(method, target, body)).toEqual([
        409,
        'conflict',
        `sku: "${sku}" belongs to another variant of this workspace`,
      ])
    }
  }
})

it('answers 404 for a product that is not there, and for one of another workspace (OP-02)', async () => {
  for (const product of [randomUUID(), foreign.product.id]) {
    const variants = `/v1/products/${product}/variants`
    for (const [method, path, body] of [
      ['POST', variants, aVariant('L')],
      ['PUT', `${variants}/${foreign.product.variants[0]?.id}`, { stock: 1 }],
      ['DELETE', `${variants}/${foreign.product.variants[0]?.id}`, undefined],
    ] as const) {
      const [status, code, message] = await refused(method, path, body)
      expect([status, code]).toEqual([404, 'not_found'])
      expect(message).toBe(`id: this workspace has no product ${product}`)
    }
  }
})

it('answers 404 for a variant that is not there, of another product, or of another workspace (OP-02)', async () => {
  for (const id of [randomUUID(), simple.product.variants[0]?.id, foreign.product.variants[0]?.id]) {
    for (const [method, body] of [
      ['PUT', { stock: 8 }],
      ['DELETE', undefined],
    ] as const) {
      const [status, code, message] = await refused(method, `${made.variants}/${id}`, body)
      expect([status, code]).toEqual([404, 'not_found'])
      expect(message).toBe(`variant_id: product ${made.product.id} has no variant ${id}`)
    }
  }
})

it('refuses ids that are no UUIDs with bad_request', async () => {
  for (const [method, path, message] of [
    ['POST', '/v1/products/7/variants', 'id: must be a UUID'],
    ['PUT', `${made.variants}/7`, 'variant_id: must be a UUID'],
    ['DELETE', `${made.variants}/7`, 'variant_id: must be a UUID'],
  ] as const) {
    const body = method === 'DELETE' ? undefined : aVariant('L')
    expect(await refused(method, path, body)).toEqual([400, 'bad_request', message])
  }
})

it('needs the scope of its method (OP-04)', async () => {
  const scopes = ['product::read', 'product::create', 'product::update', 'product::delete']
  for (const [method, path, scope] of [
    ['POST', made.variants, 'product::create'],
    ['PUT', made.variant(0), 'product::update'],
    ['DELETE', made.variant(0), 'product::delete'],
  ] as const) {
    const caller = aCaller({ ...made.caller, scopes: scopes.filter((one) => one !== scope) })
    const body = method === 'DELETE' ? undefined : aVariant('L')
    expect(await refused(method, path, body, caller)).toEqual([
      403,
      'insufficient_scope',
      `API key lacks required scope: ${scope}`,
    ])
  }
})

it('finds ids in capitals', async () => {
  const path = `/v1/products/${made.product.id.toUpperCase()}/variants/${first?.id.toUpperCase()}`
  expect((await send(made.caller, 'PUT', path, {})).status).toBe(200)
})
