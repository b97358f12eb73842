import { randomUUID } from 'node:crypto'
import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { refreshChunk } from '../products/refresh-products.ts'
import { aSimpleProduct, aVariableProduct } from '../products/testing/product-samples.ts'
import { importsUnderTest } from './testing/applied-imports.ts'

const imports = await importsUnderTest()
const { admin, create, productOf, recordsOf, run, send, slugsOf, step, undone } = imports

async function refresh(caller: Caller) {
  await imports.applyMemberChanges(caller)
  return imports.db.inWorkspace({ ...caller, traceparent: '' }, (tx) => refreshChunk(tx, new Date()))
}

/** Applies an import of one batch and returns its id. */
async function applied(caller: Caller, template: 'products' | 'product_variants' | 'stock', ...batches: object[][]) {
  const importId = randomUUID()
  for (const [batch, rows] of batches.entries()) await run(caller, template, rows, { importId, batch })
  return importId
}
const mug = (differences: object = {}) => ({ sku: 'MUG', name: 'Mug', stock: 4, price: { NGN: 5 }, ...differences })

describe('a product that the import created', () => {
  it('is deleted with a tombstone and without an event, and its stock leaves the ledger (OP-151, OP-72)', async () => {
    const caller = aCaller()
    const id = await applied(caller, 'products', [mug(), mug({ sku: 'B' })])
    const published = (await recordsOf(caller)).length
    expect(await undone(caller, 'products', id)).toEqual({ deleted: 2, restored: 0, kept: 0, rows: [], is_done: true })
    expect(await slugsOf(caller)).toEqual([])
    const records = (await recordsOf(caller)).slice(published)
    expect(records).toMatchObject(Array(2).fill({ topic: 'catalog.products', payload: null }))
    expect(
      await admin`
      select sum(delta) as left from stock_movement where workspace_id = ${caller.workspaceId} group by variant_id
    `,
    ).toMatchObject([{ left: '0' }, { left: '0' }])
  })

  it('is kept when somebody changed it since', async () => {
    const caller = aCaller()
    const id = await applied(caller, 'products', [mug(), mug({ sku: 'B' })])
    const { id: product } = await productOf(caller, 'MUG')
    await send(caller, 'PUT', `/v1/products/${product}`, { description: 'blue' })
    expect(await undone(caller, 'products', id)).toMatchObject({
      deleted: 1,
      kept: 1,
      rows: [{ key: 'MUG', reason: 'was changed since the import' }],
    })
    expect((await productOf(caller, 'MUG')).description).toBe('blue')
  })

  it.each(['before', 'after'] as const)(
    'is kept when an order took of its stock, %s the product is published again',
    async (when) => {
      const caller = aCaller()
      const id = await applied(caller, 'products', [mug()])
      const variant = (await productOf(caller, 'MUG')).variants[0]?.id
      const order = randomUUID()
      expect(
        (await send(caller, 'POST', '/internal/stock/take', { order, lines: [{ variant, quantity: 1 }] })).status,
      ).toBe(200)
      if (when === 'after') await refresh(caller)
      expect(await undone(caller, 'products', id)).toMatchObject({ deleted: 0, kept: 1 })
      expect((await productOf(caller, 'MUG')).total_stock).toBe(3)
    },
  )

  it('is reported when somebody deleted it since', async () => {
    const caller = aCaller()
    const id = await applied(caller, 'products', [mug()])
    await send(caller, 'DELETE', `/v1/products/${(await productOf(caller, 'MUG')).id}`)
    const rows = [{ key: 'MUG', reason: 'was deleted since the import' }]
    expect(await undone(caller, 'products', id)).toMatchObject({ deleted: 0, kept: 1, rows })
  })

  it('is deleted also when a category that it shows was renamed, which is no change of it', async () => {
    const caller = aCaller()
    const category = (await send<{ id: string }>(caller, 'POST', '/v1/categories', { name: 'Home' })).body
    const id = await applied(caller, 'products', [mug({ categories: ['home'] })])
    await send(caller, 'PUT', `/v1/categories/${category.id}`, { name: 'Kitchen' })
    await refresh(caller)
    expect((await productOf(caller, 'MUG')).category).toBe('Kitchen')
    expect(await undone(caller, 'products', id)).toMatchObject({ deleted: 1, kept: 0 })
  })
})

describe('a product that the import updated', () => {
  it('gets all its former values, is published, and its stock moves with the reason undone', async () => {
    const caller = aCaller()
    await send(caller, 'POST', '/v1/categories', { name: 'Home' })
    await send(caller, 'POST', '/v1/categories', { name: 'Garden' })
    const body = { sku: 'MUG', categories: ['home'], tags: ['a'], preorder_stops_at: '2030-01-01T00:00:00.000Z' }
    await run(caller, 'products', [{ ...mug(), ...body }])
    const before = await productOf(caller, 'MUG')
    const id = await applied(caller, 'products', [
      {
        ...mug({ name: 'Cup', slug: 'cup', stock: 9, price: { USD: 1 }, cost: { USD: 1 }, description: 'x' }),
        ...{ type: 'VIRTUAL_PRODUCT', status: 'HIDDEN', categories: ['garden'], tags: ['b'], tax_class: randomUUID() },
        ...{ preorder_stops_at: '2031-01-01T00:00:00Z', max_cart_quantity: 3, purchase_note: 'y', can_preorder: true },
      },
    ])
    expect(await undone(caller, 'products', id)).toMatchObject({ deleted: 0, restored: 1, kept: 0 })
    expect(await productOf(caller, 'MUG')).toEqual({ ...before, updated_at: expect.any(String) })
    expect(await slugsOf(caller)).toEqual(['mug'])
    const [row] = await admin`
      select cost, tax_class, preorder_stops_at, max_cart_quantity, purchase_note from product join variant on product_id = product.id
      where product.workspace_id = ${caller.workspaceId}`
    expect(row).toEqual({
      cost: {},
      tax_class: null,
      preorder_stops_at: new Date('2030-01-01'),
      max_cart_quantity: null,
      purchase_note: null,
    })
    const states = (await recordsOf(caller)).filter(({ type }) => type === 'product.state')
    expect(states.at(-1)?.payload).toMatchObject({ version: 3, slug: 'mug', tags: [{ name: 'a' }] })
    expect((await imports.movementsOf(caller)).at(-1)).toMatchObject({ delta: '-5', reason: 'undone' })
    expect(await imports.wrongStocks(caller)).toEqual([])
  })

  it('gets the values from before the first batch that changed it, and keeps what only others changed', async () => {
    const caller = aCaller()
    await create(caller, aSimpleProduct({ sku: 'MUG', stock: 1 }))
    const before = await productOf(caller, 'MUG')
    const id = await applied(caller, 'products', [{ sku: 'MUG', stock: 2 }], [{ sku: 'MUG', stock: 3, name: 'Cup' }])
    expect(await undone(caller, 'products', id)).toMatchObject({ restored: 1, kept: 0 })
    expect(await productOf(caller, 'MUG')).toEqual({ ...before, updated_at: expect.any(String) })
  })

  it('is kept when somebody changed it between two batches', async () => {
    const caller = aCaller()
    const { id: product } = await create(caller, aSimpleProduct({ sku: 'MUG' }))
    const importId = randomUUID()
    await run(caller, 'products', [{ sku: 'MUG', name: 'A' }], { importId, batch: 0 })
    await send(caller, 'PUT', `/v1/products/${product}`, { description: 'mine' })
    await run(caller, 'products', [{ sku: 'MUG', name: 'B' }], { importId, batch: 1 })
    const rows = [{ key: 'MUG', reason: 'was changed while the import was applied' }]
    expect(await undone(caller, 'products', importId)).toMatchObject({ restored: 0, kept: 1, rows })
    expect(await productOf(caller, 'MUG')).toMatchObject({ name: 'B', description: 'mine' })
  })

  it('is kept when its former slug, category or tag is gone', async () => {
    const caller = aCaller()
    const category = (await send<{ id: string }>(caller, 'POST', '/v1/categories', { name: 'Home' })).body
    await send(caller, 'POST', '/v1/categories', { name: 'Garden' })
    const bowl = mug({ sku: 'B', name: 'Bowl', categories: ['home'] })
    await run(caller, 'products', [mug(), bowl, mug({ sku: 'C', name: 'Saucer', tags: ['Gift'] })])
    const id = await applied(caller, 'products', [
      { sku: 'MUG', slug: 'cup' },
      { sku: 'B', categories: ['garden'] },
      { sku: 'C', tags: ['Sale'] },
    ])
    await create(caller, aSimpleProduct({ name: 'Mug', slug: 'mug' }))
    expect((await send(caller, 'DELETE', `/v1/categories/${category.id}`)).status).toBe(204)
    const [gift] = await admin`select id from tag where workspace_id = ${caller.workspaceId} and slug = 'gift'`
    expect((await send(caller, 'DELETE', `/v1/tags/${gift?.id}`)).status).toBe(204)
    const { rows, kept } = await undone(caller, 'products', id)
    expect([kept, new Set(rows)]).toEqual([
      3,
      new Set([
        { key: 'MUG', reason: 'its former slug "mug" belongs to another product' },
        { key: 'B', reason: '"home", which it had before, was deleted since the import' },
        { key: 'C', reason: '"gift", which it had before, was deleted since the import' },
      ]),
    ])
  })

  it('gets its former slug from a product that the import created', async () => {
    const caller = aCaller()
    await run(caller, 'products', [mug()])
    const id = await applied(caller, 'products', [{ sku: 'MUG', slug: 'old-mug' }], [mug({ sku: 'NEW', slug: 'mug' })])
    expect(await undone(caller, 'products', id)).toMatchObject({ deleted: 1, restored: 1 })
    expect(await slugsOf(caller)).toEqual(['mug'])
  })
})

describe('several imports of a product (OP-191)', () => {
  it('are undone from the later to the earlier one, which gives the first values back', async () => {
    const caller = aCaller()
    await create(caller, aSimpleProduct({ sku: 'MUG', stock: 1 }))
    const before = await productOf(caller, 'MUG')
    const first = await applied(caller, 'products', [{ sku: 'MUG', name: 'Cup' }], [{ sku: 'MUG', stock: 2 }])
    const second = await applied(caller, 'stock', [{ sku: 'MUG', stock: 3 }])
    expect(await undone(caller, 'stock', second)).toMatchObject({ restored: 1, kept: 0 })
    const third = await applied(caller, 'stock', [{ sku: 'MUG', stock: 7 }])
    expect(await undone(caller, 'stock', third)).toMatchObject({ restored: 1, kept: 0 })
    expect(await undone(caller, 'products', first)).toMatchObject({ restored: 1, kept: 0 })
    expect(await productOf(caller, 'MUG')).toEqual({ ...before, updated_at: expect.any(String) })
    expect(await imports.wrongStocks(caller)).toEqual([])
  })

  it('end with the deletion of what the first one created', async () => {
    const caller = aCaller()
    const first = await applied(caller, 'products', [mug()])
    const second = await applied(caller, 'stock', [{ sku: 'MUG', stock: 3 }])
    await undone(caller, 'stock', second)
    expect(await undone(caller, 'products', first)).toMatchObject({ deleted: 1, kept: 0 })
  })

  it('keep what somebody changed after the undo of the later one', async () => {
    const caller = aCaller()
    const first = await applied(caller, 'products', [mug()])
    const second = await applied(caller, 'stock', [{ sku: 'MUG', stock: 3 }])
    await undone(caller, 'stock', second)
    const { id: product } = await productOf(caller, 'MUG')
    await send(caller, 'PUT', `/v1/products/${product}`, { description: 'blue' })
    expect(await undone(caller, 'products', first)).toMatchObject({ deleted: 0, kept: 1 })
  })
})

it('a batch that comes after the undo has begun is not applied, and says so', async () => {
  const caller = aCaller()
  const importId = await applied(caller, 'products', [mug()])
  await step(caller, 'products', importId)
  const late = await run(caller, 'products', [mug({ sku: 'LATE', name: 'Late' })], { importId, batch: 1 })
  const error = { column: '', code: 'conflict', message: 'the import was undone', value: null }
  expect(late).toEqual([{ row: 2, status: 'failed', errors: [error] }])
  await undone(caller, 'products', importId)
  expect(await slugsOf(caller)).toEqual([])
})

describe('variants', () => {
  const size = (value: string) => ({ option1_name: 'Size', option1_value: value })

  it('that were added are removed with the values of their options, and changed ones are put back', async () => {
    const caller = aCaller()
    const shirt = aVariableProduct()
    await create(caller, shirt)
    const sku = shirt.variants[0]?.sku ?? ''
    const before = await productOf(caller, sku)
    const id = await applied(
      caller,
      'product_variants',
      [{ sku: 'L', product: 'shirt', ...size('L'), stock: 5 }],
      [{ sku: 'XL', product: 'shirt', ...size('XL'), stock: 5 }],
      [{ sku, stock: 77, price: { USD: 3 } }],
    )
    expect((await productOf(caller, sku)).variants).toHaveLength(4)
    expect(await undone(caller, 'product_variants', id)).toMatchObject({ restored: 1, kept: 0 })
    expect(await productOf(caller, sku)).toEqual({ ...before, updated_at: expect.any(String) })
    expect(await imports.wrongStocks(caller)).toEqual([])
  })

  it('of a product are kept together when an order took of one of them', async () => {
    const caller = aCaller()
    const shirt = aVariableProduct()
    const { variants } = await create(caller, shirt)
    const id = await applied(
      caller,
      'stock',
      shirt.variants.map(({ sku }) => ({ sku, stock: 50 })),
    )
    const order = randomUUID()
    await send(caller, 'POST', '/internal/stock/take', { order, lines: [{ variant: variants[1]?.id, quantity: 2 }] })
    const rows = [{ key: 'shirt', reason: 'was changed since the import' }]
    expect(await undone(caller, 'stock', id)).toMatchObject({ restored: 0, kept: 1, rows })
    expect((await productOf(caller, shirt.variants[0]?.sku ?? '')).total_stock).toBe(98)
  })

  it('of products with very many are put back in several steps', async () => {
    const caller = aCaller()
    for (const sku of ['P', 'Q', 'R']) await create(caller, aSimpleProduct({ sku, name: sku }))
    await imports.db.inWorkspace(
      { ...caller, traceparent: '' },
      (tx) => tx`
        insert into variant (workspace_id, id, product_id, sku, stock, price, cost, attributes, position)
        select ${caller.workspaceId}, uuidv7(), id, name || '-' || nth, 1, '{}', '{}', json_build_object('size', nth), nth + 1
        from product, generate_series(1, 2047) as nth where workspace_id = ${caller.workspaceId}`,
    )
    const id = await applied(
      caller,
      'stock',
      ['P-7', 'Q-7', 'R-7'].map((sku) => ({ sku, stock: 9 })),
    )
    const counts: number[] = []
    for (let isDone = false; !isDone; ) {
      const { body } = await step(caller, 'stock', id)
      counts.push(body.restored)
      isDone = body.is_done
    }
    expect([...new Set(counts)]).toEqual([0, 2, 3])
    expect(await admin`select from variant where workspace_id = ${caller.workspaceId} and stock = 9`).toHaveLength(0)
  })
})

describe('a step', () => {
  it('goes on where the last one ended, also when two come at once', async () => {
    const caller = aCaller()
    const rows = Array.from({ length: 500 }, (_, index) => mug({ sku: `S-${index}` }))
    const id = await applied(caller, 'products', rows)
    const seen = new Set<number>()
    for (let isDone = false; !isDone; ) {
      const answers = await Promise.all([step(caller, 'products', id), step(caller, 'products', id)])
      for (const { body } of answers) seen.add(body.deleted)
      isDone = answers.some(({ body }) => body.is_done)
    }
    expect([...seen].sort((a, b) => a - b)).toEqual([0, 200, 400, 500])
    expect((await step(caller, 'products', id)).body).toMatchObject({ deleted: 500, is_done: true })
    expect(await admin`select from product where workspace_id = ${caller.workspaceId}`).toHaveLength(0)
    expect(await admin`select from undone_change where workspace_id = ${caller.workspaceId}`).toHaveLength(0)
  })

  it.each([1, 200])('takes the same statements for %i products', async (count) => {
    const caller = aCaller()
    const rows = Array.from({ length: count }, (_, index) => mug({ sku: `S-${index}` }))
    await run(caller, 'products', rows)
    const changed = rows.map(({ sku }, index) => ({
      sku,
      name: `Cup ${index}`,
      slug: `c-${index}`,
      stock: 6,
      tags: ['a'],
    }))
    const id = await applied(caller, 'products', changed)
    const statements: number[] = []
    for (let isDone = false; !isDone; ) {
      imports.takeStatements()
      isDone = (await step(caller, 'products', id)).body.is_done
      statements.push(imports.takeStatements().length)
    }
    expect(Math.max(...statements)).toBeLessThanOrEqual(21)
  })

  it('is not_found for another workspace and for an import of which nothing is kept, and changes nothing', async () => {
    const caller = aCaller()
    const id = await applied(caller, 'products', [mug()])
    const { status, body } = await step<ErrorBody>(aCaller(), 'products', id)
    expect([status, body.error.code]).toEqual([404, 'not_found'])
    expect((await step(caller, 'products', randomUUID())).status).toBe(404)
    expect(await slugsOf(caller)).toEqual(['mug'])
  })

  it('no longer goes on three days after its last step, when its changes are being deleted', async () => {
    const caller = aCaller()
    const id = await applied(caller, 'products', [mug()])
    expect((await step(caller, 'products', id)).status).toBe(200)
    await admin`update undone_import set stepped_at = now() - interval '73 hours' where import_id = ${id}`
    expect((await step(caller, 'products', id)).status).toBe(404)
    expect(await slugsOf(caller)).toEqual(['mug'])
  })

  it('of an import that changed nothing has nothing to do', async () => {
    const caller = aCaller()
    await run(caller, 'products', [mug()])
    const id = await applied(caller, 'products', [mug()])
    expect(await undone(caller, 'products', id)).toEqual({ deleted: 0, restored: 0, kept: 0, rows: [], is_done: true })
  })
})
