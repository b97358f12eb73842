import { aCaller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { aSimpleProduct, aVariableProduct } from '../products/testing/product-samples.ts'
import { aVariant, catalogUnderTest, type Variant } from './testing/variants-api.ts'

let now = new Date('2026-03-01T10:00:00.000Z')
const { admin, send, takeStatements, newProduct, newProductWithoutOptions, read, told, movements, unexplainedStock } =
  await catalogUnderTest(() => now)

describe('a variant of a product with options (OP-22)', () => {
  it("is answered in the product body's shape and comes last", async () => {
    const made = await newProduct()
    const [size] = made.product.options
    const input = aVariant('M', { attributes: { Size: 'L' }, price: { NGN: 900 }, cost: { NGN: 1 } })
    const { status, body } = await send<Variant>(made.caller, 'POST', made.variants, input)
    expect(status).toBe(201)
    const { sku } = input
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      sku,
      stock: 3,
      price: { NGN: 900 },
      attributes: { [size?.id ?? '']: 'L' },
    })
    const product = await read(made)
    expect(product.variants).toEqual([...made.product.variants, body])
    expect([product.total_stock, product.price_range.max]).toEqual([6, { NGN: 900, USD: 2 }])
  })

  it('needs no price and no cost (OP-23)', async () => {
    const made = await newProduct()
    const { body } = await send<Variant>(made.caller, 'POST', made.variants, aVariant('L', { price: null }))
    expect(body.price).toEqual({})
    const [row] = await admin`select price, cost, position from variant where id = ${body.id}`
    expect(row).toEqual({ price: {}, cost: {}, position: 3 })
  })

  it('may use a value the options have, which changes no option', async () => {
    const made = await newProduct(
      aVariableProduct({ variants: [{ sku: crypto.randomUUID(), attributes: { Size: 'S' }, stock: 1 }] }),
    )
    expect((await send(made.caller, 'POST', made.variants, aVariant('M'))).status).toBe(201)
    expect((await read(made)).options).toEqual(made.product.options)
  })

  it('adds a new value at the end of the option, for the product and the workspace (OP-24)', async () => {
    const caller = aCaller()
    const [made, other] = [await newProduct(undefined, caller), await newProduct(undefined, caller)]
    await send(caller, 'POST', made.variants, aVariant('A'))
    await send(caller, 'POST', made.variants, aVariant('B'))
    await send(caller, 'POST', other.variants, aVariant('B'))
    expect((await read(made)).options.map(({ values }) => values)).toEqual([['S', 'M', 'A', 'B']])
    expect((await read(other)).options.map(({ values }) => values)).toEqual([['S', 'M', 'B']])
    const values = await admin`select value from option_value where workspace_id = ${caller.workspaceId} order by value`
    expect(values.map(({ value }) => value)).toEqual(['A', 'B', 'M', 'S'])
  })

  it('extends only the options it brings a value for', async () => {
    const options = [
      { name: 'Size', values: ['S'] },
      { name: 'Colour', values: ['Red'] },
    ]
    const first = { sku: crypto.randomUUID(), attributes: { Size: 'S', Colour: 'Red' }, stock: 1 }
    const made = await newProduct(aVariableProduct({ options, variants: [first] }))
    const { status } = await send(
      made.caller,
      'POST',
      made.variants,
      aVariant('', { attributes: { Colour: 'Blue', Size: 'S' } }),
    )
    expect(status).toBe(201)
    expect((await read(made)).options.map(({ name, values }) => [name, values])).toEqual([
      ['Size', ['S']],
      ['Colour', ['Red', 'Blue']],
    ])
  })

  it('comes after the last also when earlier ones are gone', async () => {
    const made = await newProduct()
    await send(made.caller, 'POST', made.variants, aVariant('A'))
    await send(made.caller, 'DELETE', made.variant(0))
    await send(made.caller, 'POST', made.variants, aVariant('B'))
    const [size] = made.product.options
    expect((await read(made)).variants.map(({ attributes }) => attributes[size?.id ?? ''])).toEqual(['M', 'A', 'B'])
  })
})

describe('the first variant of a product without options (OP-22)', () => {
  it('defines them in the order sent', async () => {
    const made = await newProductWithoutOptions()
    const attributes = { Size: 'S', Colour: 'Red', Age: 'Adult' }
    const { status, body } = await send<Variant>(made.caller, 'POST', made.variants, aVariant('', { attributes }))
    expect(status).toBe(201)
    const product = await read(made)
    expect(product.options.map(({ name, values }) => [name, values])).toEqual([
      ['Size', ['S']],
      ['Colour', ['Red']],
      ['Age', ['Adult']],
    ])
    expect(product.variants).toEqual([body])
    expect(body.attributes).toEqual(Object.fromEntries(product.options.map(({ id, values }) => [id, values[0]])))
    const missing = await send(made.caller, 'POST', made.variants, aVariant('M'))
    expect([missing.status, missing.body.error.message]).toEqual([
      422,
      'attributes: needs a value for the option "Colour"',
    ])
  })

  it("uses the workspace's option of that name", async () => {
    const caller = aCaller()
    const other = await newProduct(undefined, caller)
    const made = await newProductWithoutOptions(caller)
    await send(caller, 'POST', made.variants, aVariant('XL'))
    const [size] = other.product.options
    expect((await read(made)).options).toEqual([{ ...size, values: ['XL'] }])
    const options = await admin`select name from option where workspace_id = ${caller.workspaceId}`
    expect(options).toHaveLength(1)
  })
})

describe('what it tells', () => {
  it('is one product.updated with the whole body, and the state with costs and the next version', async () => {
    const made = await newProduct()
    for (const size of ['A', 'B']) {
      now = new Date(now.getTime() + 1000)
      const { status } = await send(made.caller, 'POST', made.variants, aVariant(size, { cost: { NGN: 7 } }))
      expect(status).toBe(201)
      const [event, state] = (await told(made)).slice(-2)
      const body = await read(made)
      expect(body.updated_at).toBe(now.toISOString())
      expect([event?.topic, event?.type, event?.payload]).toEqual(['catalog.events', 'product.updated', body])
      expect([state?.topic, state?.type]).toEqual(['catalog.products', 'product.state'])
      const costs = [{ NGN: 200 }, {}, { NGN: 7 }, { NGN: 7 }].slice(0, body.variants.length)
      expect(state?.payload).toMatchObject({
        ...body,
        version: body.variants.length - 1,
        variants: body.variants.map((variant, index) => ({ ...variant, cost: costs[index] })),
      })
    }
    expect(await told(made)).toHaveLength(6)
  })

  it('moves updated_at on, also when the clock went back', async () => {
    const made = await newProduct()
    now = new Date('2026-03-01T09:00:00.000Z')
    await send(made.caller, 'POST', made.variants, aVariant('L'))
    expect(Date.parse((await read(made)).updated_at)).toBe(Date.parse(made.product.updated_at) + 1)
  })

  it('is in the stock ledger as created, by the key that made it', async () => {
    const made = await newProduct()
    const { body } = await send<Variant>(made.caller, 'POST', made.variants, aVariant('L', { stock: 9 }))
    await send(made.caller, 'POST', made.variants, aVariant('XL', { stock: 0 }))
    expect((await movements(made)).slice(2)).toEqual([
      { variant_id: body.id, reason: 'created', delta: 9, actor: 'key' },
    ])
    expect(await unexplainedStock()).toEqual([])
  })

  it('is told once for an Idempotency-Key sent twice (OP-08)', async () => {
    const made = await newProduct()
    const input = aVariant('L')
    const sendOnce = (body: unknown) =>
      send<Variant>(made.caller, 'POST', made.variants, body, { 'idempotency-key': 'once' })
    const [first, again] = [await sendOnce(input), await sendOnce(input)]
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body])
    expect((await sendOnce(aVariant('XL'))).status).toBe(409)
    expect((await read(made)).variants).toHaveLength(3)
    expect(await told(made)).toHaveLength(4)
  })
})

describe('cost', () => {
  const productOf = (count: number) => {
    const values = Array.from({ length: count }, (_, index) => `v${index}`)
    return aVariableProduct({
      options: [{ name: 'Size', values }],
      variants: values.map((value) => ({ sku: crypto.randomUUID(), attributes: { Size: value }, stock: 1 })),
    })
  }

  it.each([1, 2047])('sends at most 8 statements beside %i variants and writes none of them', async (count) => {
    const made = await newProduct(productOf(count))
    const written = () => admin`select id, xmin::text from variant where product_id = ${made.product.id} order by id`
    const before = await written()
    takeStatements()
    expect((await send(made.caller, 'POST', made.variants, aVariant('new'))).status).toBe(201)
    expect(takeStatements().length).toBeLessThanOrEqual(8)
    expect((await written()).slice(0, count)).toEqual(before)
  })

  it('sends one more to find the options of a product without, and another when it makes some', async () => {
    const caller = aCaller()
    for (const limit of [10, 9]) {
      const made = await newProductWithoutOptions(caller)
      takeStatements()
      expect((await send(caller, 'POST', made.variants, aVariant(`size ${limit}`))).status).toBe(201)
      expect(takeStatements().length).toBeLessThanOrEqual(limit)
    }
  })

  it('refuses the 2,049th variant (OP-07)', async () => {
    const made = await newProduct(productOf(2048))
    const { status, body } = await send(made.caller, 'POST', made.variants, aVariant('new'))
    expect([status, body.error.code]).toEqual([422, 'unprocessable'])
    expect(body.error.message).toContain('id: the product has 2048 variants')
    expect((await read(made)).variants).toHaveLength(2048)
  })
})

describe('another kind of product', () => {
  it.each(['SIMPLE_PRODUCT', 'VIRTUAL_PRODUCT'])(
    'refuses a variant for a %s and says where it belongs',
    async (type) => {
      const made = await newProduct(aSimpleProduct({ type }))
      const { status, body } = await send(made.caller, 'POST', made.variants, aVariant('S'))
      expect([status, body.error.code]).toEqual([422, 'unprocessable'])
      expect(body.error.message).toBe(
        `id: a ${type} has one default variant; change it, or the type, with PUT /v1/products/${made.product.id}`,
      )
      expect(await read(made)).toEqual(made.product)
    },
  )
})

describe('a product whose record its topic would not take (OP-120)', () => {
  it('may have few variants, and very many values of its options', async () => {
    const made = await newProduct(aVariableProduct())
    await admin`
      update product_option set chosen_values = array(select repeat('x', 250) || n from generate_series(1, 40_000) as n)
      where product_id = ${made.product.id}`
    const { status, body } = await send<{ error: { code: string; message: string } }>(
      made.caller,
      'POST',
      made.variants,
      aVariant('L'),
    )
    expect([status, body.error?.code]).toEqual([422, 'unprocessable'])
    expect(body.error.message).toMatch(/^the product would have up to 1\d{7} bytes as a record/)
  })

  it('gets no further variant and keeps its size; a smaller one may still change', async () => {
    const variants = Array.from({ length: 110 }, (_, nth) => ({
      sku: crypto.randomUUID(),
      attributes: { Size: `S${nth}` },
      stock: 1,
    }))
    const options = [{ name: 'Size', values: variants.map(({ attributes }) => attributes.Size) }]
    const made = await newProduct(aVariableProduct({ options, variants }))
    // As it could be stored before the number of currencies was limited.
    await admin`
      update variant set price = (
        select jsonb_object_agg(chr(65 + n / 676) || chr(65 + n / 26 % 26) || chr(65 + n % 26), 9007199254740991)
        from generate_series(1, 3500) as n
      )
      where product_id = ${made.product.id}`
    await takeStatements()
    const { status, body } = await send<{ error: { code: string; message: string } }>(
      made.caller,
      'POST',
      made.variants,
      aVariant('M'),
    )
    expect([status, body.error.code]).toEqual([422, 'unprocessable'])
    expect(body.error.message).toMatch(
      /^the product would have up to 8\d{6} bytes as a record, \d+ more than it may have/,
    )
    const [row] = await admin`select count(*)::int from variant where product_id = ${made.product.id}`
    expect(row?.count).toBe(110)
    expect((await send(made.caller, 'PUT', made.variant(0), { stock: 2 })).status).toBe(422)
    expect((await send(made.caller, 'PUT', made.variant(0), { price: null })).status).toBe(200)
    const [last] = made.product.variants.slice(-1)
    expect((await send(made.caller, 'DELETE', `${made.variants}/${last?.id}`)).status).toBe(204)
  })
})
