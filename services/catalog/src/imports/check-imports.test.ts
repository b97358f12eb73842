import type { Template } from '@backoffice/contracts/imports.ts'
import { asApplied } from '@backoffice/importing/testing/import-checks.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { aSimpleProduct, aVariableProduct } from '../products/testing/product-samples.ts'
import { importsUnderTest } from './testing/applied-imports.ts'

const { admin, allRows, checked, create, outcomes, request, run, send, takeStatements } = await importsUnderTest()

const aMug = {
  sku: 'MUG',
  name: 'Enamel mug',
  stock: 4,
  price: { NGN: 450_000 },
  categories: ['home'],
  tags: ['New in'],
}
const size = (value: string) => ({ option1_name: 'Size', option1_value: value })

/** Categories `home` and `kitchen` in it, the mug, a variable `shirt` (SKUs S and M), and `cap`, without variants. */
async function aStockedCatalog(caller: Caller): Promise<void> {
  await run(caller, 'categories', [
    { slug: 'home', name: 'Home' },
    { slug: 'kitchen', name: 'Kitchen', parent: 'home' },
  ])
  await run(caller, 'products', [aMug])
  const shirt = aVariableProduct()
  const [small, medium] = shirt.variants
  await create(caller, {
    ...shirt,
    variants: [
      { ...small, sku: 'S' },
      { ...medium, sku: 'M' },
    ],
  })
  const { id } = await create(caller, aSimpleProduct({ name: 'Cap', sku: 'CAP' }))
  await send(caller, 'PUT', `/v1/products/${id}`, { type: 'VARIABLE_PRODUCT' })
}

/** Rows of each template with what a check says about them. */
const SAMPLES: Partial<Record<Template, readonly [row: object, outcome: string][]>> = {
  products: [
    [{ sku: 'CUP', name: 'Enamel mug', stock: 1, tags: ['Unheard of'] }, 'created'],
    [{ sku: 'JAR', name: 'Jar', stock: 1, slug: 'jar', categories: ['kitchen'] }, 'created'],
    [{ ...aMug, name: 'Mug' }, 'updated'],
    [{ sku: 'MUG' }, 'sku duplicate: row 4 has it already'],
    [{ sku: 'POT', stock: 1 }, 'name bad_request: is required for a new product'],
    [{ sku: 'PAN', name: 'Pan' }, 'stock bad_request: is required for a SIMPLE_PRODUCT'],
    [{ sku: 'LID', name: 'Lid', stock: -1 }, 'stock bad_request: must be at least 0'],
    [
      { sku: 'URN', name: 'Urn', stock: 1, images: ['ftp://shop.example/urn.png'] },
      'images bad_request: must be a URL that begins with https:// or http://',
    ],
    [
      { sku: 'BOX', name: 'Box', stock: 1, slug: 'enamel-mug' },
      'slug conflict: "enamel-mug" belongs to another product of this workspace',
    ],
    [
      { sku: 'TIN', name: 'Tin', stock: 1, slug: 'jar' },
      'slug conflict: an earlier row gives "jar" to another product',
    ],
    [
      { sku: 'BAG', name: 'Bag', stock: 1, categories: ['none'] },
      'categories unprocessable: this workspace has no category "none"',
    ],
    [
      { sku: 'S', stock: 1 },
      'sku unprocessable: belongs to a variant of a VARIABLE_PRODUCT; import it with the template product_variants',
    ],
  ],
  product_variants: [
    [{ sku: 'L', product: 'shirt', ...size('L'), stock: 1 }, 'created'],
    [
      { sku: 'L2', product: 'shirt', ...size('L'), stock: 1 },
      'option1_value unprocessable: the variant "L" has the same combination',
    ],
    [{ sku: 'S', stock: 99 }, 'updated'],
    [{ sku: 'M', product: 'shirt', ...size('M') }, 'unchanged'],
    [{ sku: 'CAP-RED', product: 'cap', option1_name: 'Colour', option1_value: 'Red', stock: 1 }, 'created'],
    [{ sku: 'CAP-TAN', product: 'cap', option1_name: 'Colour', option1_value: 'Tan', stock: 1 }, 'created'],
    [{ sku: 'XL', ...size('XL'), stock: 1 }, 'product bad_request: is required for a new variant'],
    [
      { sku: 'XXL', product: 'none', ...size('XXL'), stock: 1 },
      'product unprocessable: this workspace has no product with the id or slug "none"',
    ],
    [{ sku: 'MUG', stock: 1 }, 'sku unprocessable: is that of a SIMPLE_PRODUCT; import it with the template products'],
  ],
  stock: [
    [{ sku: 'MUG', stock: 4 }, 'unchanged'],
    [{ sku: 'S', stock: 77 }, 'updated'],
    [{ sku: 'NONE', stock: 1 }, 'sku unprocessable: this workspace has no "NONE"'],
    [
      { sku: 'M', stock: Number.MAX_SAFE_INTEGER },
      "stock unprocessable: with the other variants' stock it adds up to more than 2^53−1",
    ],
  ],
  categories: [
    [{ slug: 'garden', name: 'Garden', parent: 'home' }, 'created'],
    [{ slug: 'tools', name: 'Tools', parent: 'garden' }, 'created'],
    [{ slug: 'kitchen', position: 2 }, 'updated'],
    [{ slug: 'none' }, 'name bad_request: is required for a new category'],
    [{ slug: 'pots', name: 'Pots', parent: 'none' }, 'parent unprocessable: this workspace has no category "none"'],
    [{ slug: 'home', parent: 'kitchen' }, 'parent unprocessable: must be neither the category itself nor one below it'],
  ],
}

describe.each(Object.entries(SAMPLES))('a check of rows of %s', (name, samples) => {
  const template = name as Template
  const [rows, expected] = [samples.map(([row]) => row), samples.map(([, outcome]) => outcome)]

  it('says what each would do, changes nothing, and applying them does the same', async () => {
    const caller = aCaller()
    await aStockedCatalog(caller)
    const before = await allRows()
    expect(await checked(caller, template, rows)).toEqual(expected)
    expect(await allRows()).toEqual(before)
    expect(await outcomes(caller, template, rows)).toEqual(asApplied(expected))
  })

  it('says of applied rows that they are unchanged', async () => {
    const caller = aCaller()
    await aStockedCatalog(caller)
    await outcomes(caller, template, rows)
    const applied = rows.filter((_, index) => !expected[index]?.includes(': '))
    expect(await checked(caller, template, applied)).toEqual(applied.map(() => 'unchanged'))
  })

  it('waits for no other transaction', async () => {
    const caller = aCaller()
    await aStockedCatalog(caller)
    await admin.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtextextended(${`${caller.workspaceId} categories`}, 0))`
      await tx`select pg_advisory_xact_lock(hashtextextended(${`${caller.workspaceId}/enamel-mug`}, 0))`
      for (const table of ['product', 'variant', 'category', 'tag', 'option']) {
        await tx`select from ${tx(table)} where workspace_id = ${caller.workspaceId} for update`
      }
      expect(await checked(caller, template, rows)).toEqual(expected)
    })
  })
})

const oneOf = (...values: string[]) => fc.constantFrom(...values)
const numbered = (prefix: string) => fc.nat({ max: 40 }).map((number) => `${prefix}${number}`)
const someRows = (columns: Record<string, fc.Arbitrary<unknown>>, ...required: string[]) =>
  fc.array(fc.record(columns, { requiredKeys: required }), { minLength: 1, maxLength: 6 })
const stock = fc.constantFrom(0, 1, 4, Number.MAX_SAFE_INTEGER)

const ANY_ROWS = fc.oneof(
  fc.tuple(
    fc.constant('products' as const),
    someRows(
      {
        sku: fc.oneof(oneOf('MUG', 'S'), numbered('JAR-')),
        name: oneOf('Enamel mug', 'Jar', 'Vase'),
        type: oneOf('SIMPLE_PRODUCT', 'VIRTUAL_PRODUCT'),
        slug: numbered('jar-'),
        stock,
        categories: fc.uniqueArray(oneOf('home', 'kitchen', 'garden'), { maxLength: 2 }),
        tags: fc.uniqueArray(oneOf('New in', 'new IN', 'Sale'), { maxLength: 2 }),
      },
      'sku',
    ),
  ),
  fc.tuple(
    fc.constant('product_variants' as const),
    someRows(
      {
        sku: fc.oneof(oneOf('S', 'M', 'MUG'), numbered('SHIRT-')),
        product: oneOf('shirt', 'shirt', 'cap', 'enamel-mug'),
        option1_name: oneOf('Size', 'Colour'),
        option1_value: fc.oneof(oneOf('S', 'M'), numbered('Size ')),
        stock,
      },
      'sku',
    ),
  ),
  fc.tuple(fc.constant('stock' as const), someRows({ sku: oneOf('MUG', 'S', 'M', 'NONE'), stock }, 'sku', 'stock')),
  fc.tuple(
    fc.constant('categories' as const),
    someRows(
      {
        slug: fc.oneof(oneOf('home', 'kitchen', 'garden'), numbered('shelf-')),
        name: oneOf('Home', 'Garden'),
        parent: oneOf('home', 'kitchen', 'garden'),
        position: fc.constantFrom(0, 1),
      },
      'slug',
    ),
  ),
)

test('a check of any rows agrees with the batch that is applied after it', async () => {
  const caller = aCaller()
  await aStockedCatalog(caller)
  await fc.assert(
    fc.asyncProperty(ANY_ROWS, async ([template, rows]) => {
      const expected = await checked(caller, template, rows)
      expect(await outcomes(caller, template, rows)).toEqual(asApplied(expected))
    }),
    { numRuns: 150 },
  )
})

describe('a check', () => {
  it('takes parents of earlier rows of the file for known', async () => {
    const caller = aCaller()
    const row = { slug: 'tools', name: 'Tools', parent: 'garden' }
    expect(await checked(caller, 'categories', [row], { earlier: ['garden'] })).toEqual(['created'])
    await run(caller, 'categories', [{ ...row, parent: undefined }])
    expect(await checked(caller, 'categories', [row], { earlier: ['garden'] })).toEqual(['updated'])
    expect(await checked(caller, 'categories', [row])).toEqual([
      'parent unprocessable: this workspace has no category "garden"',
    ])
  })

  it('knows the products of its own workspace alone', async () => {
    const [caller, other] = [aCaller(), aCaller()]
    await aStockedCatalog(other)
    expect(await checked(caller, 'products', [{ ...aMug, slug: 'enamel-mug', categories: [] }])).toEqual(['created'])
    expect(await checked(caller, 'stock', [{ sku: 'MUG', stock: 1 }])).toEqual([
      'sku unprocessable: this workspace has no "MUG"',
    ])
    expect(await checked(caller, 'product_variants', [{ sku: 'S', product: 'shirt', ...size('S'), stock: 1 }])).toEqual(
      ['product unprocessable: this workspace has no product with the id or slug "shirt"'],
    )
    expect(await checked(caller, 'categories', [{ slug: 'kitchen', parent: 'home' }])).toEqual([
      'parent unprocessable: this workspace has no category "home"',
    ])
  })

  it('refuses a status that the workspace does not use (OP-13)', async () => {
    const rows = [{ sku: 'A', name: 'A', stock: 1, status: 'HIDDEN' }]
    expect(await checked(aCaller(), 'products', rows, { statuses: ['ACTIVE'] })).toEqual([
      'status unprocessable: this workspace does not use HIDDEN; send one that it uses: ACTIVE',
    ])
  })

  it('of rows of another service is unprocessable', async () => {
    const { status, body } = await request(aCaller(), 'customers', [{ email: 'ada@example.com' }])
    expect([status, body.error.message]).toEqual([422, 'template: "customers" belongs to another service'])
  })

  it('has the value of a refused row, as the report of a batch does', async () => {
    const { body } = await request(aCaller(), 'stock', [{ sku: 'NONE', stock: 1 }])
    expect(body.failed).toEqual([
      {
        row: 2,
        error: { column: 'sku', code: 'unprocessable', message: 'this workspace has no "NONE"', value: 'NONE' },
      },
    ])
  })
})

describe('the statements of a check', () => {
  const rows = (count: number, members: object) =>
    Array.from({ length: count }, (_, index) => ({
      sku: `SKU ${index}`,
      name: `Mug ${index % 7}`,
      stock: 1,
      ...members,
    }))

  /** Besides those that begin, set up and end the transaction. */
  async function statementsOf(caller: Caller, members: object, count: number): Promise<number> {
    takeStatements()
    await checked(caller, 'products', rows(count, members))
    return takeStatements().filter((text) => /\bfrom\b/.test(text)).length
  }

  it.each([1, 500])(
    'are one for %i new products, and one each for slugs and categories that they name',
    async (count) => {
      const caller = aCaller()
      await run(caller, 'categories', [{ slug: 'home', name: 'Home' }])
      expect(await statementsOf(caller, { tags: ['a', 'b'] }, count)).toBe(1)
      expect(await statementsOf(caller, { tags: ['a', 'b'], categories: ['home'], slug: 'mug' }, count)).toBe(3)
    },
  )

  it.each([1, 500])('are six at most for %i known products', async (count) => {
    const caller = aCaller()
    await run(caller, 'categories', [{ slug: 'home', name: 'Home' }])
    await run(caller, 'products', rows(count, { tags: ['a'] }))
    expect(await statementsOf(caller, {}, count)).toBe(4)
    expect(await statementsOf(caller, { tags: ['b'], categories: ['home'] }, count)).toBe(6)
  })
})
