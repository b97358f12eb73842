import type { BatchResult } from '@backoffice/contracts/batches.ts'
import { LIMITS } from '@backoffice/contracts/limits.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { describe, expect, it } from 'vitest'
import { aSimpleProduct, aVariableProduct } from '../products/testing/product-samples.ts'
import { batchStock } from './batch-stock.ts'
import { importsUnderTest } from './testing/applied-imports.ts'

const imports = await importsUnderTest()
const { admin, checked, outcomes, create, productOf } = imports
const send = serviceClient(imports.db, [batchStock])

const REFUSAL =
  /^the product would have up to \d{7} bytes as a record, \d+ more than it may have; use fewer variants, options, /
const OF_ROW = new RegExp(REFUSAL.source.replace('^', '^sku unprocessable: '))

/** The longest legal text: a control character takes six bytes in JSON. */
const longest = (text: string) => text.padEnd(255, '\u0001')

const values = (size: string, others: string) => ({
  ...{ option1_name: 'Size', option1_value: size },
  ...{ option2_name: 'Colour', option2_value: others },
  ...{ option3_name: 'Fit', option3_value: others },
})
/** The row of a variant that takes about 11 kB in the record. */
const largeRow = (name: string, members: object) => ({
  ...{ sku: longest(name), ...members, ...values(longest(name), longest(name)), stock: 1 },
})
const smallRow = (name: string, members: object) => ({ sku: name, ...members, ...values(name, 'plain'), stock: 1 })
const numbers = (count: number) => Array.from({ length: count }, (_, n) => `${n}`)

/** A product of one variant, whose record has about so many bytes by the values of an option. */
async function aLargeProduct(caller: Caller, bytes: number): Promise<void> {
  const attributes = { Size: 'S', Colour: 'plain', Fit: 'plain' }
  const options = Object.entries(attributes).map(([name, value]) => ({ name, values: [value] }))
  await create(caller, aVariableProduct({ slug: 'large', options, variants: [{ sku: 'S', attributes, stock: 1 }] }))
  const { id } = await productOf(caller, 'S')
  await admin`
    update product_option set chosen_values = chosen_values || array(
      select lpad(n::text, 97, 'x') from generate_series(1, ${bytes / 100}::integer) as n
    )
    where product_id = ${id} and position = 1`
}

async function largestRecordOf({ workspaceId }: Caller): Promise<number> {
  const [largest] = await admin<[{ bytes: number }]>`
    select max(octet_length(payload::text)) as bytes from outbox
    where workspace_id = ${workspaceId} and topic <> 'imports.results'`
  return largest.bytes
}

/** Rows of variants too many, of which the first are created, and the small one at the end. */
function expectTheMiddleRefused(results: readonly string[]): void {
  const refused = results.filter((result) => result !== 'created')
  expect(refused.length).toBeGreaterThan(0)
  expect([results.at(0), results.at(-1)]).toEqual(['created', 'created'])
  expect(results.at(-2)).not.toBe('created')
  for (const result of refused) expect(result).toMatch(OF_ROW)
}

describe('a row that makes a product too large for its record fails alone (OP-120)', () => {
  it.each([
    ['products', { type: 'VARIABLE_PRODUCT', slug: 'large' }],
    ['product_variants', { product: 'large' }],
  ] as const)('when it adds a variant by the template %s', async (template, members) => {
    const caller = aCaller()
    await aLargeProduct(caller, 8_250_000)
    const rows = [...numbers(20).map((name) => largeRow(name, members)), smallRow('LAST', members)]
    expectTheMiddleRefused(await checked(caller, template, rows))
    const results = await outcomes(caller, template, rows)
    expectTheMiddleRefused(results)
    const { variants } = await productOf(caller, 'S')
    expect(variants.slice(1).map(({ sku }) => sku)).toEqual(
      rows.filter((_, index) => results[index] === 'created').map(({ sku }) => sku),
    )
    expect(await largestRecordOf(caller)).toBeLessThan(LIMITS.recordBytes)
  })

  it.each([
    ['products', { type: 'VARIABLE_PRODUCT' }],
    ['product_variants', {}],
  ] as const)('when it changes a variant by the template %s', async (template, members) => {
    const caller = aCaller()
    await aLargeProduct(caller, 8_346_000)
    const cap = { sku: 'CAP', attributes: { Size: 'S' }, stock: 1 }
    await create(caller, aVariableProduct({ slug: 'cap', options: [{ name: 'Size', values: ['S'] }], variants: [cap] }))
    const rows = [
      { sku: 'S', ...members, ...values('S', longest('new')), stock: 7 },
      { sku: 'CAP', ...members, stock: 7 },
    ]
    const expected = [expect.stringMatching(OF_ROW), 'updated']
    expect(await checked(caller, template, rows)).toEqual(expected)
    expect(await outcomes(caller, template, rows)).toEqual(expected)
    expect((await productOf(caller, 'S')).total_stock).toBe(1)
    expect((await productOf(caller, 'CAP')).total_stock).toBe(7)
  })

  it('when the rows of a new product are too many', async () => {
    const caller = aCaller()
    await thousandCategories(caller)
    const members = { type: 'VARIABLE_PRODUCT', slug: 'large', name: 'Large' }
    const [first = {}, ...others] = numbers(498).map((name) => largeRow(name, members))
    const rows = [{ ...first, categories: CATEGORIES }, ...others, smallRow('LAST', members)]
    const results = await outcomes(caller, 'products', rows)
    expectTheMiddleRefused(results)
    expect((await productOf(caller, 'LAST')).variants).toHaveLength(
      results.filter((result) => result === 'created').length,
    )
    expect(await largestRecordOf(caller)).toBeLessThan(LIMITS.recordBytes)
  })
})

describe('a product that is too large already (OP-120)', () => {
  it('fails the rows of its stock alone, in an import and in a batch, since no record would tell of it', async () => {
    const caller = aCaller()
    await aLargeProduct(caller, 9_000_000)
    await create(caller, aSimpleProduct({ sku: 'MUG', stock: 4 }))
    const rows = ['S', 'MUG'].map((sku) => ({ sku, stock: 7 }))
    const expected = [expect.stringMatching(OF_ROW), 'updated']
    expect(await checked(caller, 'stock', rows)).toEqual(expected)
    expect(await outcomes(caller, 'stock', rows)).toEqual(expected)
    const { status, body } = await send<Results>(caller, 'POST', '/v1/stock/batch', {
      rows: rows.map((row) => ({ ...row, stock: 8 })),
    })
    expect(status).toBe(200)
    expect(body.results.map((result) => result.status)).toEqual(['failed', 'updated'])
    expect(body.results[0]?.error?.message.replace('sku: ', '')).toMatch(REFUSAL)
    expect([(await productOf(caller, 'S')).total_stock, (await productOf(caller, 'MUG')).total_stock]).toEqual([1, 8])
  })
})

it('a product of a batch whose record is too large fails alone, and nothing is created for it (OP-276)', async () => {
  const caller = aCaller()
  await thousandCategories(caller)
  // In the record, options have ids instead of names of one letter.
  const letters = Array.from({ length: 94 }, (_, n) => String.fromCharCode(0x21 + n)).filter(
    (one) => !'"\\'.includes(one),
  )
  const variants = numbers(1300).map((number) => ({
    sku: number,
    attributes: Object.fromEntries(letters.map((letter, n) => [letter, n < 4 ? (number.at(-1 - n) ?? '0') : '0'])),
    stock: 0,
  }))
  const large = {
    ...{ name: 'Large', type: 'VARIABLE_PRODUCT', tags: ['Large'], categories: CATEGORIES, variants },
    options: letters.map((name, n) => ({ name, values: n < 4 ? numbers(10) : ['0'] })),
  }
  const rows = [aSimpleProduct({ sku: 'MUG', tags: ['Small'] }), large, aSimpleProduct({ sku: 'JUG' })]
  const { status, body } = await imports.send<Results>(caller, 'POST', '/v1/products/batch', { rows })
  expect([status, body.results?.map((result) => result.status)]).toEqual([200, ['created', 'failed', 'created']])
  expect(body.results[1]?.error).toMatchObject({ code: 'unprocessable', message: expect.stringMatching(REFUSAL) })
  const named = await admin`
    select name from tag where workspace_id = ${caller.workspaceId}
    union all select name from option where workspace_id = ${caller.workspaceId}`
  expect([...named]).toEqual([{ name: 'Small' }])
  const single = await imports.send<{ error: { message: string } }>(caller, 'POST', '/v1/products', large)
  expect([single.status, single.body.error.message]).toEqual([422, expect.stringMatching(REFUSAL)])
})

interface Results {
  readonly results: BatchResult[]
}

const CATEGORIES = numbers(1000).map((number) => `c${number}`)

/** Categories that a rename may give long names. */
const thousandCategories = ({ workspaceId }: Caller) => admin`
  insert into category (workspace_id, id, name, slug, created_at, updated_at)
  select ${workspaceId}, gen_random_uuid(), slug, slug, now(), now() from unnest(${CATEGORIES}::text[]) as slug`
