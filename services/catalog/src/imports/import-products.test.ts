import { aCaller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { aSimpleProduct, aVariableProduct } from '../products/testing/product-samples.ts'
import { importsUnderTest } from './testing/applied-imports.ts'

const imports = await importsUnderTest()
const { outcomes, productOf, recordsOf, create, run } = imports

const aMug = { sku: 'MUG', name: 'Enamel mug', stock: 4, price: { NGN: 450_000 }, cost: { USD: 100 } }

describe('a row with a new SKU', () => {
  it('creates a product with what creating one gives it (OP-13)', async () => {
    const caller = aCaller()
    expect(await run(caller, 'products', [aMug])).toEqual([{ row: 2, status: 'created', errors: [] }])
    const product = await productOf(caller, 'MUG')
    const { id } = product
    const made = await create(caller, aSimpleProduct({ ...aMug, sku: 'OTHER' }))
    const [variant] = product.variants
    expect(product).toEqual({
      ...made,
      id,
      variants: [{ ...made.variants[0], id: variant?.id, sku: 'MUG' }],
      created_at: product.created_at,
      updated_at: product.created_at,
    })
  })

  it('takes every column of the template', async () => {
    const caller = aCaller()
    await run(caller, 'categories', [
      { slug: 'kitchen', name: 'Kitchen' },
      { slug: 'sale', name: 'Sale' },
    ])
    const row = {
      ...aMug,
      type: 'VIRTUAL_PRODUCT',
      status: 'HIDDEN',
      slug: 'the-mug',
      description: 'White',
      categories: ['sale', 'kitchen'],
      tags: ['New in', 'Enamel'],
      requires_shipping: true,
      can_preorder: true,
      preorder_stops_at: '2027-01-01T00:00:00Z',
      max_cart_quantity: 3,
      low_stock_threshold: 2,
      purchase_note: 'Thanks',
      tax_class: '7D1C2C1E-57BB-4F0E-9D5C-6A8A6F9D2B11',
    }
    expect(await outcomes(caller, 'products', [row])).toEqual(['created'])
    expect(await productOf(caller, 'MUG')).toMatchObject({
      type: 'VIRTUAL_PRODUCT',
      status: 'HIDDEN',
      description: 'White',
      category: 'Sale',
      categories: [{ slug: 'sale' }, { slug: 'kitchen' }],
      requires_shipping: true,
      can_preorder: true,
      total_stock: 4,
      variants: [{ sku: 'MUG', stock: 4, price: { NGN: 450_000 }, attributes: {} }],
    })
    const [stored] = await imports.admin`select * from product where workspace_id = ${caller.workspaceId}`
    expect(stored).toMatchObject({
      slug: 'the-mug',
      preorder_stops_at: new Date('2027-01-01'),
      purchase_note: 'Thanks',
      tax_class: '7d1c2c1e-57bb-4f0e-9d5c-6a8a6f9d2b11',
    })
    expect([Number(stored?.max_cart_quantity), Number(stored?.low_stock_threshold)]).toEqual([3, 2])
    const [{ payload: state } = { payload: undefined }] = await recordsOf(caller)
    expect(state).toMatchObject({ slug: 'the-mug', tags: [{ slug: 'new-in' }, { slug: 'enamel' }], version: 1 })
    expect(state?.variants).toMatchObject([{ cost: { USD: 100 } }])
  })

  it('needs a name and a stock, as creating a product does', async () => {
    const caller = aCaller()
    expect(await outcomes(caller, 'products', [{ sku: 'A', stock: 1 }, { sku: 'B', name: 'B' }, aMug])).toEqual([
      'name bad_request: is required for a new product',
      'stock bad_request: is required for a SIMPLE_PRODUCT',
      'created',
    ])
  })
})

describe('a row with a known SKU', () => {
  it('sets what it gives and leaves the rest', async () => {
    const caller = aCaller()
    const before = await create(caller, aSimpleProduct({ sku: 'MUG', tags: ['Old'], description: 'White' }))
    const row = { sku: 'MUG', name: 'Blue mug', price: { USD: 5 }, status: 'HIDDEN', type: 'VIRTUAL_PRODUCT', stock: 9 }
    expect(await outcomes(caller, 'products', [row])).toEqual(['updated'])
    const [variant] = before.variants
    expect(await productOf(caller, 'MUG')).toEqual({
      ...before,
      name: 'Blue mug',
      status: 'HIDDEN',
      type: 'VIRTUAL_PRODUCT',
      total_stock: 9,
      price_range: { min: { USD: 5 }, max: { USD: 5 } },
      variants: [{ ...variant, price: { USD: 5 }, stock: 9 }],
      updated_at: expect.any(String),
    })
    const state = (await recordsOf(caller)).at(-1)?.payload
    expect(state).toMatchObject({
      slug: 'mug',
      version: 2,
      tags: [{ slug: 'old' }],
      variants: [{ cost: { NGN: 300_000 } }],
    })
  })

  it('replaces categories and tags where it gives them, in their order', async () => {
    const caller = aCaller()
    await run(
      caller,
      'categories',
      ['a', 'b', 'c'].map((slug) => ({ slug, name: slug })),
    )
    await run(caller, 'products', [{ ...aMug, categories: ['a', 'b'], tags: ['x', 'y'] }])
    await run(caller, 'products', [{ sku: 'MUG', categories: ['c', 'a'], tags: ['y', 'z', 'Y'] }])
    const state = (await recordsOf(caller)).at(-1)?.payload
    expect(state?.categories.map(({ slug }) => slug)).toEqual(['c', 'a'])
    expect(state?.tags.map(({ slug }) => slug)).toEqual(['y', 'z'])
    expect((await productOf(caller, 'MUG')).categories).toEqual(state?.categories)
    await run(caller, 'products', [{ sku: 'MUG', categories: [], tags: [] }])
    expect((await recordsOf(caller)).at(-1)?.payload).toMatchObject({ categories: [], tags: [] })
  })

  it('that changes nothing counts as updated, and writes and publishes nothing (OP-55, OP-73)', async () => {
    const caller = aCaller()
    const full = { ...aMug, tags: ['b', 'a'], description: 'White', tax_class: '7D1C2C1E-57BB-4F0E-9D5C-6A8A6F9D2B11' }
    await run(caller, 'products', [full])
    const before = await recordsOf(caller)
    const product = await productOf(caller, 'MUG')
    expect(await outcomes(caller, 'products', [full])).toEqual(['updated'])
    expect(await outcomes(caller, 'products', [{ sku: 'MUG' }])).toEqual(['updated'])
    expect(await recordsOf(caller)).toEqual(before)
    expect(await productOf(caller, 'MUG')).toEqual(product)
  })

  it('that belongs to a variant of a variable product is refused', async () => {
    const caller = aCaller()
    const product = aVariableProduct()
    await create(caller, product)
    expect(await outcomes(caller, 'products', [{ sku: product.variants[0]?.sku, stock: 7 }])).toEqual([
      'sku unprocessable: belongs to a variant of a VARIABLE_PRODUCT; import it with the template product_variants',
    ])
  })
})

describe('a bad row fails alone, with its reason', () => {
  it.each([
    ['a SKU that an earlier row has', { ...aMug, name: 'Again' }, 'sku duplicate: row 2 has it already'],
    [
      'a category the workspace does not have',
      { sku: 'X', name: 'X', stock: 1, categories: ['no'], tags: ['never'] },
      'categories unprocessable: this workspace has no category "no"',
    ],
    [
      'a status that is switched off',
      { sku: 'X', name: 'X', stock: 1, status: 'ARCHIVED' },
      'status unprocessable: this workspace does not use ARCHIVED; send one that it uses: ACTIVE',
    ],
    [
      'a SKU with a space before it',
      { sku: ' X', name: 'X', stock: 1 },
      'sku bad_request: must not begin or end with a space',
    ],
    ['no SKU', { name: 'X', stock: 1 }, 'sku bad_request: is required'],
    ['a negative stock', { sku: 'X', name: 'X', stock: -1 }, 'stock bad_request: must be at least 0'],
    [
      'a price in no currency',
      { sku: 'X', name: 'X', stock: 1, price: { euro: 1 } },
      'price bad_request: is not an ISO 4217 currency code',
    ],
    [
      'a type that there is not',
      { sku: 'X', name: 'X', stock: 1, type: 'BUNDLE' },
      'type bad_request: must be one of SIMPLE_PRODUCT, VARIABLE_PRODUCT, VIRTUAL_PRODUCT',
    ],
    [
      'a slug in the wrong form',
      { sku: 'X', name: 'X', stock: 1, slug: 'A b' },
      'slug bad_request: must be letters and digits in parts joined by single hyphens',
    ],
    [
      'what PostgreSQL cannot store',
      { sku: 'X', name: 'X\0', stock: 1 },
      'name bad_request: must not contain NUL characters',
    ],
  ])('%s', async (_, row, reason) => {
    const caller = aCaller()
    const rows = [aMug, row, { sku: 'LAST', name: 'Last', stock: 0 }]
    expect(await outcomes(caller, 'products', rows, { statuses: ['ACTIVE'] })).toEqual(['created', reason, 'created'])
    const [count] = await imports.admin`
      select (select count(*)::int from product where workspace_id = ${caller.workspaceId}) as products,
        (select count(*)::int from tag where workspace_id = ${caller.workspaceId}) as tags`
    expect(count).toEqual({ products: 2, tags: 0 })
  })

  it('says which value of the row it is, as a cell shows it', async () => {
    const [result] = await run(aCaller(), 'products', [{ sku: 'X', name: 'X', stock: 1, categories: ['no', 'nay'] }])
    expect(result).toEqual({
      row: 2,
      status: 'failed',
      errors: [
        {
          column: 'categories',
          code: 'unprocessable',
          message: 'this workspace has no category "no"',
          value: '["no","nay"]',
        },
      ],
    })
  })
})

it('publishes the state of each product it wrote and no event (OP-72)', async () => {
  const caller = aCaller()
  await run(caller, 'products', [
    { ...aMug, tags: ['New'] },
    { sku: 'B', name: 'B', stock: 1 },
  ])
  await run(caller, 'products', [{ sku: 'B', stock: 2 }, { sku: 'MUG' }])
  const records = await recordsOf(caller)
  expect(records.map(({ topic, type, payload }) => [topic, type, payload.variants[0]?.sku])).toEqual([
    ['catalog.products', 'product.state', 'MUG'],
    ['catalog.products', 'product.state', 'B'],
    ['catalog.products', 'product.state', 'B'],
  ])
})

it('applies rows of one workspace whatever another one has', async () => {
  const [own, other] = [aCaller(), aCaller()]
  await run(other, 'categories', [{ slug: 'kitchen', name: 'Kitchen' }])
  await run(other, 'products', [aMug])
  const before = await productOf(other, 'MUG')
  expect(
    await outcomes(own, 'products', [
      { ...aMug, stock: 9, categories: ['kitchen'] },
      { ...aMug, stock: 8 },
    ]),
  ).toEqual([
    'categories unprocessable: this workspace has no category "kitchen"',
    'sku duplicate: row 2 has it already',
  ])
  expect(await outcomes(own, 'products', [{ ...aMug, stock: 9 }])).toEqual(['created'])
  expect(await productOf(other, 'MUG')).toEqual(before)
  expect(await imports.slugsOf(own)).toEqual(['enamel-mug'])
})

it('enters every piece of stock in the ledger as imported, on behalf of the import', async () => {
  const caller = aCaller()
  const importId = '0198c7a0-0000-7000-8000-000000000001'
  await run(caller, 'products', [aMug, { sku: 'NONE', name: 'None', stock: 0 }], { importId })
  await run(caller, 'products', [{ sku: 'MUG', stock: 1, name: 'Mug' }], { importId, batch: 1 })
  expect(await imports.movementsOf(caller)).toEqual([
    { sku: 'MUG', delta: '4', reason: 'imported', actor: `import ${importId}` },
    { sku: 'MUG', delta: '-3', reason: 'imported', actor: `import ${importId}` },
  ])
  expect(await imports.wrongStocks(caller)).toEqual([])
})

describe('statements', () => {
  const rows = (count: number, differences: (index: number) => object) =>
    Array.from({ length: count }, (_, index) => ({ sku: `SKU ${index}`, ...differences(index) }))
  const everything = (round: string) => (index: number) => ({
    name: `Mug ${index % 7}`,
    stock: index,
    price: { NGN: index + round.length },
    categories: [round],
    tags: [round, `tag ${index % 5}`],
  })

  it.each([1, 500])('are 21 at most to create %i products, and to change them', async (count) => {
    const caller = aCaller()
    await run(
      caller,
      'categories',
      ['first', 'then'].map((slug) => ({ slug, name: slug })),
    )
    for (const round of ['first', 'then']) {
      imports.takeStatements()
      const results = await outcomes(caller, 'products', rows(count, everything(round)))
      expect(imports.takeStatements().length).toBeLessThanOrEqual(19) // and two of the consumer's: parked keys, inbox
      expect(new Set(results)).toEqual(new Set([round === 'first' ? 'created' : 'updated']))
    }
    expect(await recordsOf(caller)).toHaveLength(2 * count)
    expect(await imports.wrongStocks(caller)).toEqual([])
  })
})
