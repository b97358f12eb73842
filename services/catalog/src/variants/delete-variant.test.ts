import { expect, it } from 'vitest'
import { aSimpleProduct, aVariableProduct } from '../products/testing/product-samples.ts'
import { aVariant, catalogUnderTest } from './testing/variants-api.ts'

const NOW = new Date('2026-03-01T10:00:00.000Z')
const { send, takeStatements, newProduct, read, told, movements, unexplainedStock } = await catalogUnderTest(() => NOW)

it("removes the variant and keeps its values in the product's options (OP-24)", async () => {
  const made = await newProduct()
  const [, second] = made.product.variants
  const { status, body } = await send(made.caller, 'DELETE', made.variant(0))
  expect([status, body]).toEqual([204, undefined])
  const product = await read(made)
  expect(product).toEqual({
    ...made.product,
    variants: [second],
    total_stock: 2,
    price_range: { min: second?.price, max: second?.price },
    updated_at: new Date(NOW.getTime() + 1).toISOString(),
  })
})

it('answers 404 when it is gone already', async () => {
  const made = await newProduct()
  await send(made.caller, 'DELETE', made.variant(0))
  for (const method of ['DELETE', 'PUT'] as const) {
    const { status } = await send(made.caller, method, made.variant(0), method === 'PUT' ? { stock: 1 } : undefined)
    expect(status).toBe(404)
  }
  expect(await told(made)).toHaveLength(4)
})

it('frees the SKU and the combination', async () => {
  const made = await newProduct()
  await send(made.caller, 'DELETE', made.variant(0))
  const again = aVariant('S', { sku: made.product.variants[0]?.sku })
  expect((await send(made.caller, 'POST', made.variants, again)).status).toBe(201)
})

it('tells one product.updated with the whole body, and the state with the next version', async () => {
  const made = await newProduct()
  await send(made.caller, 'DELETE', made.variant(1))
  const [event, state, ...more] = (await told(made)).slice(2)
  const body = await read(made)
  expect([event?.topic, event?.type, event?.payload]).toEqual(['catalog.events', 'product.updated', body])
  expect([state?.topic, state?.type, state?.payload]).toMatchObject([
    'catalog.products',
    'product.state',
    { ...body, version: 2, variants: [{ ...body.variants[0], cost: { NGN: 200 } }] },
  ])
  expect(more).toEqual([])
})

it('is in the stock ledger as deleted, so that its movements add up to 0', async () => {
  const made = await newProduct()
  await send(made.caller, 'DELETE', made.variant(1))
  expect((await movements(made)).slice(2)).toEqual([
    { variant_id: made.product.variants[1]?.id, reason: 'deleted', delta: -2, actor: 'key' },
  ])
  expect(await unexplainedStock()).toEqual([])
})

it('keeps the last variant of a product and says what to do instead (OP-94)', async () => {
  const made = await newProduct()
  await send(made.caller, 'DELETE', made.variant(0))
  const before = await read(made)
  const { status, body } = await send(made.caller, 'DELETE', made.variant(1))
  expect([status, body.error.code]).toEqual([422, 'unprocessable'])
  expect(body.error.message).toBe(
    `variant_id: is the product's last variant; delete the product, or switch its type, at /v1/products/${made.product.id}`,
  )
  expect(await read(made)).toEqual(before)
})

it.each(['SIMPLE_PRODUCT', 'VIRTUAL_PRODUCT'])('keeps the default variant of a %s', async (type) => {
  const made = await newProduct(aSimpleProduct({ type }))
  const { status, body } = await send(made.caller, 'DELETE', made.variant(0))
  expect([status, body.error.code]).toEqual([422, 'unprocessable'])
  expect(body.error.message).toContain(`with PUT /v1/products/${made.product.id}`)
  expect(await read(made)).toEqual(made.product)
})

it.each([2, 2048])('sends at most 8 statements among %i variants', async (count) => {
  const values = Array.from({ length: count }, (_, index) => `v${index}`)
  const variants = values.map((value) => ({ sku: crypto.randomUUID(), attributes: { Size: value }, stock: 1 }))
  const made = await newProduct(aVariableProduct({ options: [{ name: 'Size', values }], variants }))
  takeStatements()
  expect((await send(made.caller, 'DELETE', made.variant(1))).status).toBe(204)
  expect(takeStatements().length).toBeLessThanOrEqual(8)
})
