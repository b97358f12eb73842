import { aBatch } from '@backoffice/importing/testing/import-batches.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { aSimpleProduct } from '../products/testing/product-samples.ts'
import { importsUnderTest } from './testing/applied-imports.ts'

const imports = await importsUnderTest()
const { apply, outcomes, run, create, send, slugsOf, recordsOf, productOf } = imports

const mugs = (prefix: string, count: number, differences: object = {}) =>
  Array.from({ length: count }, (_, index) => ({ sku: `${prefix}-${index}`, name: 'Mug', stock: 1, ...differences }))

/** Runs again what another transaction was in the way of, as the consumer does. */
async function again<Result>(work: () => Promise<Result>, attempts = 3): Promise<Result> {
  return work().catch((error) => {
    if (attempts === 1) throw error
    return again(work, attempts - 1)
  })
}

describe('slugs', () => {
  it('are unique for 500 products of one name in one batch', async () => {
    const caller = aCaller()
    await create(caller, aSimpleProduct({ name: 'Mug', slug: 'mug-3' }))
    expect(new Set(await outcomes(caller, 'products', mugs('A', 500)))).toEqual(new Set(['created']))
    const slugs = await slugsOf(caller)
    expect(new Set(slugs).size).toBe(501)
    expect(slugs.slice(0, 4)).toEqual(['mug-3', 'mug', 'mug-4', 'mug-5'])
  })

  it('are unique for products of one name that come at once, imported and created', async () => {
    const caller = aCaller()
    await Promise.all([
      ...['A', 'B', 'C'].map((prefix) => again(() => run(caller, 'products', mugs(prefix, 50)))),
      ...Array.from({ length: 20 }, () => create(caller, aSimpleProduct({ name: 'Mug' }))),
    ])
    const slugs = await slugsOf(caller)
    expect([slugs.length, new Set(slugs).size]).toEqual([170, 170])
  })

  it('that a row gives are conflict when another product or an earlier row has them', async () => {
    const caller = aCaller()
    await create(caller, aSimpleProduct({ name: 'Taken', sku: 'T' }))
    const rows = [
      { sku: 'A', name: 'A', stock: 1, slug: 'taken' },
      { sku: 'B', name: 'B', stock: 1, slug: 'free' },
      { sku: 'C', name: 'C', stock: 1, slug: 'free' },
      { sku: 'D', name: 'Free', stock: 1 },
      { sku: 'T', slug: 'taken', stock: 8 },
    ]
    expect(await outcomes(caller, 'products', rows)).toEqual([
      'slug conflict: "taken" belongs to another product of this workspace',
      'created',
      'slug conflict: an earlier row gives "free" to another product',
      'created',
      'updated',
    ])
    expect(await slugsOf(caller)).toEqual(['taken', 'free', 'free-2'])
  })
})

describe('the same SKUs in batches that come at once', () => {
  it('are created once, and what comes second finds them', async () => {
    const caller = aCaller()
    const batches = [1, 2, 3].map((stock) => aBatch(caller, 'products', mugs('SKU', 40, { stock })))
    const results = await Promise.all(batches.map((batch) => again(() => apply(batch))))
    const statuses = results.map((rows) => new Set(rows.map(({ status }) => status)))
    expect(statuses.filter((set) => set.has('created'))).toHaveLength(1)
    expect(statuses.every((set) => set.size === 1)).toBe(true)
    expect(await slugsOf(caller)).toHaveLength(40)
    expect(await imports.wrongStocks(caller)).toEqual([])
    const versions = (await recordsOf(caller)).filter(({ payload }) => payload.variants[0]?.sku === 'SKU-0')
    expect(versions.map(({ payload }) => payload.version)).toEqual([1, 2, 3])
  })

  it('are locked in id order, whatever their order in the batches, beside updates of single products', async () => {
    const caller = aCaller()
    const rows = mugs('SKU', 30)
    await run(caller, 'products', rows)
    const { id } = await productOf(caller, 'SKU-7')
    const round = async (stock: number) => {
      const forth = rows.map((row) => ({ sku: row.sku, stock }))
      const answers = await Promise.all([
        outcomes(caller, 'products', forth),
        outcomes(
          caller,
          'stock',
          forth.toReversed().map((row) => ({ ...row, stock: stock + 1 })),
        ),
        ...[1, 2, 3].map((n) => send(caller, 'PUT', `/v1/products/${id}`, { description: `${stock} ${n}` })),
      ])
      expect(answers.slice(2).map((answer) => (answer as { status: number }).status)).toEqual([200, 200, 200])
      expect(new Set(answers.slice(0, 2).flat())).toEqual(new Set(['updated']))
    }
    for (let stock = 10; stock < 100; stock += 10) await round(stock)
    expect(await imports.wrongStocks(caller)).toEqual([])
    const told = (await recordsOf(caller)).filter(({ key, type }) => key === id && type === 'product.state')
    expect(told.map(({ payload }) => payload.version)).toEqual(told.map((_, index) => index + 1))
    expect(told.at(-1)?.payload.variants).toMatchObject((await productOf(caller, 'SKU-7')).variants)
  })
})
