import type { Product } from '@backoffice/contracts/product.ts'
import { describe, expect, it } from 'vitest'
import { aSimpleProduct, aVariableProduct } from '../products/testing/product-samples.ts'
import { catalogUnderTest, type ProductUnderTest, type Variant } from './testing/variants-api.ts'

let now = new Date('2026-03-01T10:00:00.000Z')
const { admin, send, takeStatements, newProduct, read, told, movements, unexplainedStock } = await catalogUnderTest(
  () => now,
)
const update = ({ caller, variant }: ProductUnderTest, members: unknown) =>
  send<Variant>(caller, 'PUT', variant(0), members)
const sizeOf = ({ options }: Product) => options[0]?.id ?? ''
const costOf = async (id: string | undefined) =>
  (await admin`select cost from variant where id = ${id ?? null}`)[0]?.cost

describe('what is sent changes, the rest stays', () => {
  it.each<[string, Record<string, unknown>]>([
    ['sku', { sku: crypto.randomUUID() }],
    ['stock', { stock: 40 }],
    ['stock', { stock: 0 }],
    ['price', { price: { USD: 1, EUR: 0 } }],
  ])('changes the %s alone: %j', async (_, members) => {
    const made = await newProduct()
    const [first, second] = made.product.variants
    const { status, body } = await update(made, members)
    expect([status, body]).toEqual([200, { ...first, ...members }])
    expect((await read(made)).variants).toEqual([body, second])
    expect(await costOf(first?.id)).toEqual({ NGN: 200 })
  })

  it('changes the cost, which no body shows', async () => {
    const made = await newProduct()
    const { body } = await update(made, { cost: { USD: 9 } })
    expect(body).toEqual(made.product.variants[0])
    expect(await costOf(body.id)).toEqual({ USD: 9 })
  })

  it('empties price and cost with null (OP-94)', async () => {
    const made = await newProduct()
    const { body } = await update(made, { price: null, cost: null })
    expect([body.price, await costOf(body.id)]).toEqual([{}, {}])
  })

  it.each(['price', 'cost'])('refuses a %s that names no currency, and applies nothing (OP-244)', async (member) => {
    const made = await newProduct()
    const sent = { sku: crypto.randomUUID(), [member]: {} }
    const { status, body } = await send(made.caller, 'PUT', made.variant(0), sent)
    expect([status, body.error.code, body.error.message]).toEqual([
      422,
      'unprocessable',
      `${member}: names no currency; leave it out to keep the amounts, or send null to remove them`,
    ])
    expect(await read(made)).toEqual(made.product)
  })

  it('takes attributes of null for none sent (OP-244)', async () => {
    const made = await newProduct()
    const { status, body } = await update(made, { stock: 9, attributes: null })
    expect([status, body]).toEqual([200, { ...made.product.variants[0], stock: 9 }])
  })

  it('takes another combination, adding the value the option misses (OP-22)', async () => {
    const made = await newProduct()
    const size = sizeOf(made.product)
    expect((await update(made, { attributes: { Size: 'L' } })).body.attributes).toEqual({ [size]: 'L' })
    expect((await read(made)).options).toEqual([{ id: size, name: 'Size', values: ['S', 'M', 'L'] }])
    expect((await update(made, { attributes: { Size: 'S' } })).body.attributes).toEqual({ [size]: 'S' })
    expect((await read(made)).options).toEqual([{ id: size, name: 'Size', values: ['S', 'M', 'L'] }])
    const values = await admin`select value from option_value where option_id = ${size} order by value`
    expect(values.map(({ value }) => value)).toEqual(['L', 'M', 'S'])
  })

  it('changes everything at once and keeps the place', async () => {
    const made = await newProduct()
    const members = { sku: crypto.randomUUID(), stock: 7, price: { NGN: 1 } }
    const { body } = await update(made, { ...members, cost: null, attributes: { Size: 'XXL' } })
    expect(body).toEqual({
      id: made.product.variants[0]?.id,
      ...members,
      attributes: { [sizeOf(made.product)]: 'XXL' },
    })
    const product = await read(made)
    expect(product.variants).toEqual([body, made.product.variants[1]])
    expect([product.total_stock, product.price_range.min]).toEqual([9, { NGN: 1, USD: 2 }])
  })
})

describe('what it tells', () => {
  it('is one product.updated with the whole body, and the state with costs and the next version', async () => {
    const made = await newProduct()
    const changes = [{ stock: 8 }, { cost: { NGN: 1 } }, { attributes: { Size: 'L' } }, { sku: crypto.randomUUID() }]
    for (const [index, members] of changes.entries()) {
      now = new Date(now.getTime() + 1000)
      expect((await update(made, members)).status).toBe(200)
      const [event, state] = (await told(made)).slice(-2)
      const body = await read(made)
      expect(body.updated_at).toBe(now.toISOString())
      expect([event?.type, event?.payload]).toEqual(['product.updated', body])
      const costs = [index < 1 ? { NGN: 200 } : { NGN: 1 }, {}]
      expect([state?.type, state?.payload]).toMatchObject([
        'product.state',
        { version: index + 2, variants: body.variants.map((variant, at) => ({ ...variant, cost: costs[at] })) },
      ])
    }
    expect(await told(made)).toHaveLength(2 + 2 * changes.length)
  })

  it('is in the stock ledger as set, by the difference', async () => {
    const made = await newProduct()
    const id = made.product.variants[0]?.id
    await update(made, { stock: 10, price: null })
    await update(made, { stock: 4 })
    await update(made, { price: { NGN: 3 } })
    await update(made, { stock: 0 })
    expect((await movements(made)).slice(2)).toEqual([
      { variant_id: id, reason: 'set', delta: 9, actor: 'key' },
      { variant_id: id, reason: 'set', delta: -6, actor: 'key' },
      { variant_id: id, reason: 'set', delta: -4, actor: 'key' },
    ])
    expect(await unexplainedStock()).toEqual([])
  })

  it('is nothing when nothing changes: no event, no row, updated_at stays (OP-73)', async () => {
    const made = await newProduct()
    const rows = () =>
      Promise.all([
        admin`select xmin, * from product where id = ${made.product.id}`,
        admin`select xmin, * from variant where product_id = ${made.product.id} order by id`,
        movements(made),
        told(made),
      ])
    const before = await rows()
    now = new Date('2026-05-01T10:00:00.000Z')
    const [first] = made.product.variants
    for (const members of [
      {},
      { sku: first?.sku },
      { stock: first?.stock },
      { price: first?.price },
      { cost: { NGN: 200 } },
      { attributes: { Size: 'S' } },
      { sku: first?.sku, stock: first?.stock, price: first?.price, cost: { NGN: 200 }, attributes: { Size: 'S' } },
    ]) {
      const { status, body } = await update(made, members)
      expect([status, body]).toEqual([200, first])
      expect(await rows()).toEqual(before)
    }
  })
})

describe('cost', () => {
  it.each([1, 2048])('sends at most 9 statements among %i variants and writes one', async (count) => {
    const values = Array.from({ length: count }, (_, index) => `v${index}`)
    const variants = values.map((value) => ({ sku: crypto.randomUUID(), attributes: { Size: value }, stock: 1 }))
    const made = await newProduct(aVariableProduct({ options: [{ name: 'Size', values }], variants }))
    const written = () =>
      admin`select id, xmin::text from variant where product_id = ${made.product.id} order by position offset 1`
    const before = await written()
    takeStatements()
    const all = { sku: crypto.randomUUID(), stock: 5, price: { NGN: 1 }, cost: null, attributes: { Size: 'new' } }
    expect((await update(made, all)).status).toBe(200)
    expect(takeStatements().length).toBeLessThanOrEqual(9)
    expect(await written()).toEqual(before)
  })
})

it.each(['SIMPLE_PRODUCT', 'VIRTUAL_PRODUCT'])(
  'leaves the default variant of a %s to the product (Update rule 1)',
  async (type) => {
    const made = await newProduct(aSimpleProduct({ type }))
    const { status, body } = await send(made.caller, 'PUT', made.variant(0), { stock: 9 })
    expect([status, body.error.code]).toEqual([422, 'unprocessable'])
    expect(body.error.message).toContain(`with PUT /v1/products/${made.product.id}`)
    expect(await read(made)).toEqual(made.product)
  },
)
