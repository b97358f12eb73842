import { randomUUID } from 'node:crypto'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { aSimpleProduct, aVariableProduct } from '../products/testing/product-samples.ts'
import { importsUnderTest } from './testing/applied-imports.ts'

const imports = await importsUnderTest()
const { outcomes, create, productOf, recordsOf } = imports

/** A variable product in two sizes with stocks 1 and 2, and the SKUs of both. */
async function aShirt(caller: Caller) {
  const body = aVariableProduct()
  await create(caller, body)
  return body.variants.map(({ sku }) => sku) as [string, string]
}

it('sets the stock of variants of any product, and the ledger tells of the difference', async () => {
  const caller = aCaller()
  const [small, medium] = await aShirt(caller)
  await create(caller, aSimpleProduct({ sku: 'MUG', stock: 4 }))
  const importId = randomUUID()
  const rows = [
    { sku: 'MUG', stock: 1 },
    { sku: small, stock: 8 },
    { sku: medium, stock: 0 },
  ]
  expect(await outcomes(caller, 'stock', rows, { importId })).toEqual(['updated', 'updated', 'updated'])
  expect((await productOf(caller, 'MUG')).total_stock).toBe(1)
  expect((await productOf(caller, small)).variants.map(({ stock }) => stock)).toEqual([8, 0])
  const imported = (await imports.movementsOf(caller)).filter(({ reason }) => reason === 'imported')
  expect(imported.toSorted((a, b) => a.delta - b.delta)).toEqual([
    { sku: 'MUG', delta: '-3', reason: 'imported', actor: `import ${importId}` },
    { sku: medium, delta: '-2', reason: 'imported', actor: `import ${importId}` },
    { sku: small, delta: '7', reason: 'imported', actor: `import ${importId}` },
  ])
  expect(await imports.wrongStocks(caller)).toEqual([])
})

it('publishes the state of each product once, and no event (OP-72)', async () => {
  const caller = aCaller()
  const [small, medium] = await aShirt(caller)
  const before = await recordsOf(caller)
  await outcomes(caller, 'stock', [
    { sku: small, stock: 8 },
    { sku: medium, stock: 9 },
  ])
  const records = (await recordsOf(caller)).slice(before.length)
  expect(records).toMatchObject([{ type: 'product.state', payload: { total_stock: 17, version: 2 } }])
  expect(records[0]?.payload).toMatchObject(await productOf(caller, small))
})

it('counts a stock that is as it was as updated, and writes and publishes nothing', async () => {
  const caller = aCaller()
  const [small] = await aShirt(caller)
  const [before, product] = [await recordsOf(caller), await productOf(caller, small)]
  expect(await outcomes(caller, 'stock', [{ sku: small, stock: 1 }])).toEqual(['updated'])
  expect(await recordsOf(caller)).toEqual(before)
  expect(await productOf(caller, small)).toEqual(product)
})

it('refuses, row by row, what is unknown, another workspace’s, twice, no count, or too much', async () => {
  const [caller, other] = [aCaller(), aCaller()]
  const [small, medium] = await aShirt(caller)
  const [foreign] = await aShirt(other)
  const rows = [
    { sku: 'none', stock: 1 },
    { sku: foreign, stock: 1 },
    { sku: small, stock: 5 },
    { sku: small, stock: 6 },
    { sku: 'X', stock: 1.5 },
    { sku: 'Y' },
    { sku: medium, stock: Number.MAX_SAFE_INTEGER },
  ]
  expect(await outcomes(caller, 'stock', rows)).toEqual([
    'sku unprocessable: this workspace has no "none"',
    `sku unprocessable: this workspace has no "${foreign}"`,
    'updated',
    'sku duplicate: row 4 has it already',
    'stock bad_request: must be a whole number',
    'stock bad_request: is required',
    "stock unprocessable: with the other variants' stock it adds up to more than 2^53−1",
  ])
  expect((await productOf(caller, small)).variants.map(({ stock }) => stock)).toEqual([5, 2])
  expect((await productOf(other, foreign)).variants[0]?.stock).toBe(1)
})

it('reads products of many variants some at a time', async () => {
  const caller = aCaller()
  const skus = await Promise.all(
    [0, 1, 2].map(async () => {
      const values = Array.from({ length: 2048 }, (_, index) => `value ${index}`)
      const sku = randomUUID()
      const variants = values.map((Size, index) => ({ sku: `${sku} ${index}`, attributes: { Size }, stock: 0 }))
      await create(caller, { name: 'Shirt', type: 'VARIABLE_PRODUCT', options: [{ name: 'Size', values }], variants })
      return `${sku} 7`
    }),
  )
  imports.takeStatements()
  expect(
    await outcomes(
      caller,
      'stock',
      skus.map((sku) => ({ sku, stock: 3 })),
    ),
  ).toEqual(Array(3).fill('updated'))
  const reads = imports.takeStatements().filter((text) => text.includes('as "preorderStopsAt"'))
  expect(reads).toHaveLength(2)
  for (const sku of skus) expect((await productOf(caller, sku)).total_stock).toBe(3)
})

it.each([1, 500])('takes at most 20 statements for %i rows', async (count) => {
  const caller = aCaller()
  const skus = Array.from({ length: count }, (_, index) => `SKU ${index}`)
  await outcomes(
    caller,
    'products',
    skus.map((sku) => ({ sku, name: sku, stock: 0 })),
  )
  imports.takeStatements()
  const results = await outcomes(
    caller,
    'stock',
    skus.map((sku, index) => ({ sku, stock: index + 1 })),
  )
  expect(imports.takeStatements().length).toBeLessThanOrEqual(18)
  expect(results).toEqual(skus.map(() => 'updated'))
  expect(await imports.wrongStocks(caller)).toEqual([])
})
