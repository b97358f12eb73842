import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { aSimpleProduct, aVariableProduct } from '../products/testing/product-samples.ts'
import { importsUnderTest } from './testing/applied-imports.ts'

const imports = await importsUnderTest()
const { outcomes, create, productOf, recordsOf, send } = imports

/** A variable product `shirt` in sizes S and M, with the SKUs S and M. */
async function aShirt(caller: Caller) {
  const shirt = aVariableProduct()
  const [small, medium] = shirt.variants
  return create(caller, {
    ...shirt,
    variants: [
      { ...small, sku: 'S' },
      { ...medium, sku: 'M' },
    ],
  })
}

/** A variable product without options and variants (OP-16). */
async function aCap(caller: Caller) {
  const { id } = await create(caller, aSimpleProduct({ name: 'Cap' }))
  await send(caller, 'PUT', `/v1/products/${id}`, { type: 'VARIABLE_PRODUCT' })
}

const size = (value: string) => ({ option1_name: 'Size', option1_value: value })

describe('a row with a new SKU', () => {
  it('adds a variant to the product, with values that its options get (OP-22, OP-24)', async () => {
    const caller = aCaller()
    const before = await aShirt(caller)
    const rows = [
      { sku: 'L', product: 'shirt', ...size('L'), stock: 5, price: { NGN: 900 }, cost: { NGN: 1 } },
      { sku: 'XL', product: 'shirt', ...size('XL'), stock: 0 },
    ]
    expect(await outcomes(caller, 'product_variants', rows)).toEqual(['created', 'created'])
    const product = await productOf(caller, 'L')
    const option = before.options[0]?.id ?? ''
    expect(product).toEqual({
      ...before,
      total_stock: 8,
      price_range: { min: { NGN: 500, USD: 2 }, max: { NGN: 900, USD: 2 } },
      options: [{ id: option, name: 'Size', values: ['S', 'M', 'L', 'XL'] }],
      variants: [
        ...before.variants,
        { id: expect.any(String), sku: 'L', stock: 5, price: { NGN: 900 }, attributes: { [option]: 'L' } },
        { id: expect.any(String), sku: 'XL', stock: 0, price: {}, attributes: { [option]: 'XL' } },
      ],
      updated_at: expect.any(String),
    })
    const { payload } = (await recordsOf(caller)).at(-1) ?? {}
    expect(payload).toMatchObject({ version: 2, variants: [{}, {}, { sku: 'L', cost: { NGN: 1 } }, {}] })
    expect((await imports.movementsOf(caller)).at(-1)).toMatchObject({ sku: 'L', delta: '5', reason: 'imported' })
    const values = await imports.admin`select value from option_value where option_id = ${option} order by value`
    expect(values.map(({ value }) => value)).toEqual(['L', 'M', 'S', 'XL'])
  })

  it('names its product by the id that answers show, whatever the slug, and never that of another workspace', async () => {
    const [caller, other] = [aCaller(), aCaller()]
    const { id } = await aShirt(caller)
    const foreign = await create(other, aVariableProduct({ name: 'Foreign' }))
    const rows = [
      { sku: 'L', product: id, ...size('L'), stock: 5 },
      { sku: 'L', product: id.toUpperCase(), stock: 6 },
      { sku: 'XL', product: foreign.id, ...size('XL'), stock: 5 },
      { sku: 'S', product: foreign.id, stock: 5 },
    ]
    expect(await outcomes(caller, 'product_variants', rows.slice(0, 1))).toEqual(['created'])
    expect(await outcomes(caller, 'product_variants', rows.slice(1))).toEqual([
      'updated',
      `product unprocessable: this workspace has no product with the id or slug "${foreign.id}"`,
      'sku conflict: "S" belongs to a variant of another product of this workspace',
    ])
    expect((await productOf(caller, 'L')).id).toBe(id)
  })

  it('is refused when its slug may be that of several products, since no answer shows whose it is', async () => {
    const caller = aCaller()
    const first = await aShirt(caller)
    const named = (name: string, differences: object = {}) => {
      const variants = [{ sku: crypto.randomUUID(), attributes: { Size: 'S' }, stock: 1 }]
      const options = [{ name: 'Size', values: ['S'] }]
      return create(caller, aVariableProduct({ name, options, variants, ...differences }))
    }
    const second = await named('SHIRT!')
    for (const name of ['Model', 'Model 1', 'Model 2']) await named(name)
    await named('Shirt', { slug: 'shirt-for-work' })
    const row = (product: string, sku = product) => ({ sku, product, ...size('L'), stock: 1 })
    const rows = [row('shirt'), row('shirt-2'), row('shirt-for-work'), row(second.id), { sku: 'M', product: 'shirt' }]
    const ambiguous = (slug: string) =>
      expect.stringMatching(
        new RegExp(`^product unprocessable: "${slug}" may mean the product .{36} or .{36}; give the id of one$`),
      )
    expect(await outcomes(caller, 'product_variants', rows)).toEqual([
      ambiguous('shirt'),
      ambiguous('shirt-2'),
      'created',
      'created',
      'updated',
    ])
    expect(await outcomes(caller, 'product_variants', [row('model'), row('model-1'), row('model-2')])).toEqual(
      Array(3).fill('created'),
    )
    await send(caller, 'PUT', `/v1/products/${first.id}`, { name: 'Blouse' })
    expect(await outcomes(caller, 'product_variants', [row('shirt')])).toEqual([ambiguous('shirt')])
    expect(await outcomes(caller, 'product_variants', [row('model-2', 'X')])).toEqual([
      'option1_value unprocessable: the variant "model-2" has the same combination',
    ])
  })

  it('may have the slug of a renamed product, when no other product has the name', async () => {
    const caller = aCaller()
    const { id } = await aShirt(caller)
    await send(caller, 'PUT', `/v1/products/${id}`, { name: 'Blouse' })
    expect(
      await outcomes(caller, 'product_variants', [{ sku: 'L', product: 'shirt', ...size('L'), stock: 1 }]),
    ).toEqual(['created'])
  })

  it('creates no option when it fails (OP-56)', async () => {
    const caller = aCaller()
    await aCap(caller)
    const rows = [
      { sku: 'A', product: 'cap', ...size('S'), stock: 1 },
      { sku: 'B', product: 'cap', option1_name: 'Never', option1_value: 'x', stock: 1 },
    ]
    expect((await outcomes(caller, 'product_variants', rows))[0]).toBe('created')
    const options = await imports.admin`select id, name from option where workspace_id = ${caller.workspaceId}`
    expect([...options]).toEqual([{ id: expect.any(String), name: 'Size' }])
    expect((await productOf(caller, 'A')).options[0]?.id).toBe(options[0]?.id)
  })

  it('defines the options of a product that has none; later rows cover exactly those', async () => {
    const caller = aCaller()
    await aCap(caller)
    const colour = (value: string) => ({ option2_name: 'Colour', option2_value: value })
    const rows = [
      { sku: 'A', product: 'cap', ...size('S'), ...colour('red'), stock: 1 },
      { sku: 'B', product: 'cap', ...size('S'), stock: 1 },
      { sku: 'C', product: 'cap', ...size('S'), ...colour('blue'), stock: 1 },
    ]
    expect(await outcomes(caller, 'product_variants', rows)).toEqual([
      'created',
      'option1_value unprocessable: needs a value for the option "Colour"',
      'created',
    ])
    expect((await productOf(caller, 'A')).options).toMatchObject([
      { name: 'Size', values: ['S'] },
      { name: 'Colour', values: ['red', 'blue'] },
    ])
    const positions = await imports.admin`
      select position from variant where workspace_id = ${caller.workspaceId} order by sku`
    expect(positions.map(({ position }) => position)).toEqual([1, 2])
  })
})

describe('a row with a known SKU', () => {
  it('sets what it gives and leaves the rest', async () => {
    const caller = aCaller()
    const before = await aShirt(caller)
    const rows = [
      { sku: 'S', price: { USD: 7 }, stock: 9 },
      { sku: 'M', product: 'shirt', ...size('L') },
    ]
    expect(await outcomes(caller, 'product_variants', rows)).toEqual(['updated', 'updated'])
    const [small, medium] = before.variants
    const { variants, options } = await productOf(caller, 'S')
    const option = options[0]?.id ?? ''
    expect(variants).toEqual([
      { ...small, price: { USD: 7 }, stock: 9 },
      { ...medium, attributes: { [option]: 'L' } },
    ])
    expect(options[0]?.values).toEqual(['S', 'M', 'L'])
    expect(await imports.wrongStocks(caller)).toEqual([])
  })

  it('that changes nothing counts as updated, and writes and publishes nothing', async () => {
    const caller = aCaller()
    await aShirt(caller)
    const [records, product] = [await recordsOf(caller), await productOf(caller, 'S')]
    const rows = [{ sku: 'S', ...size('S'), stock: 1, price: { NGN: 500 }, cost: { NGN: 200 } }, { sku: 'M' }]
    expect(await outcomes(caller, 'product_variants', rows)).toEqual(['updated', 'updated'])
    expect(await recordsOf(caller)).toEqual(records)
    expect(await productOf(caller, 'S')).toEqual(product)
  })
})

describe('a bad row fails alone, with its reason', () => {
  const row = { sku: 'NEW', product: 'shirt', ...size('L'), stock: 1 }
  it.each([
    ['no product', { sku: 'NEW', ...size('L'), stock: 1 }, 'product bad_request: is required for a new variant'],
    ['no stock', { sku: 'NEW', product: 'shirt', ...size('L') }, 'stock bad_request: is required for a new variant'],
    [
      'an unknown product',
      { ...row, product: 'none' },
      'product unprocessable: this workspace has no product with the id or slug "none"',
    ],
    [
      'another workspace’s product',
      { ...row, product: 'foreign' },
      'product unprocessable: this workspace has no product with the id or slug "foreign"',
    ],
    [
      'a simple product',
      { ...row, product: 'mug' },
      'product unprocessable: is that of a SIMPLE_PRODUCT; import it with the template products',
    ],
    [
      'a simple product’s SKU',
      { sku: 'MUG', stock: 3 },
      'sku unprocessable: is that of a SIMPLE_PRODUCT; import it with the template products',
    ],
    [
      'a SKU of another product',
      { ...row, sku: 'S', product: 'mug' },
      'sku conflict: "S" belongs to a variant of another product of this workspace',
    ],
    [
      'a name without a value',
      { ...row, option2_name: 'Colour' },
      'option2_value bad_request: is required beside option2_name',
    ],
    [
      'a value without a name',
      { ...row, option3_value: 'red' },
      'option3_name bad_request: is required beside option3_value',
    ],
    [
      'an option twice',
      { ...row, option2_name: 'Size', option2_value: 'S' },
      'option2_name unprocessable: the row names the option "Size" twice',
    ],
    [
      'an option the product does not have',
      { ...row, option2_name: 'Colour', option2_value: 'red' },
      'option2_name unprocessable: the product has no such option',
    ],
    [
      'no option',
      { ...row, option1_name: undefined, option1_value: undefined },
      'option1_value unprocessable: needs a value for the option "Size"',
    ],
    [
      'a combination that is there',
      { ...row, ...size('M') },
      'option1_value unprocessable: the variant "M" has the same combination',
    ],
    [
      'a combination that an earlier row gave up',
      { ...row, ...size('S') },
      'option1_value unprocessable: the variant "S" has the same combination',
    ],
    [
      'too much stock',
      { ...row, stock: Number.MAX_SAFE_INTEGER },
      "stock unprocessable: with the other variants' stock it adds up to more than 2^53−1",
    ],
  ])('%s', async (_, bad, reason) => {
    const [caller, other] = [aCaller(), aCaller()]
    await aShirt(caller)
    await create(caller, aSimpleProduct({ name: 'Mug', sku: 'MUG' }))
    await create(other, aVariableProduct({ name: 'Foreign' }))
    const rows = [
      ...(bad.sku === 'S' ? [] : [{ sku: 'S', ...size('XS') }]),
      bad,
      { ...row, sku: 'LAST', ...size('XL') },
    ]
    const results = await outcomes(caller, 'product_variants', rows)
    expect(results.slice(-2)).toEqual([reason, 'created'])
  })

  it('one variant too many', async () => {
    const caller = aCaller()
    const values = Array.from({ length: 2047 }, (_, index) => `value ${index}`)
    const variants = values.map((Size) => ({ sku: Size, attributes: { Size }, stock: 0 }))
    await create(caller, aVariableProduct({ options: [{ name: 'Size', values }], variants }))
    const rows = ['A', 'B'].map((sku) => ({ sku, product: 'shirt', ...size(sku), stock: 0 }))
    expect(await outcomes(caller, 'product_variants', rows)).toEqual([
      'created',
      'product unprocessable: the product has 2048 variants, the most it can have; delete one first',
    ])
  })
})

it.each([1, 500])(
  'takes at most 20 statements for %i new variants of as many products as rows allow',
  async (count) => {
    const caller = aCaller()
    await aShirt(caller)
    await aCap(caller)
    const rows = Array.from({ length: count }, (_, index) => ({
      sku: `SKU ${index}`,
      product: index % 2 ? 'shirt' : 'cap',
      ...size(`size ${index}`),
      stock: index,
    }))
    imports.takeStatements()
    const results = await outcomes(caller, 'product_variants', rows)
    expect(imports.takeStatements().length).toBeLessThanOrEqual(18)
    expect(results).toEqual(rows.map(() => 'created'))
    expect(await imports.wrongStocks(caller)).toEqual([])
  },
)
