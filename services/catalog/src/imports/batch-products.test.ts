import { randomUUID } from 'node:crypto'
import type { BatchResult } from '@backoffice/contracts/batches.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { describe, expect, it } from 'vitest'
import { createProduct } from '../products/create-product.ts'
import { getProduct } from '../products/get-product.ts'
import { aSimpleProduct, aVariableProduct } from '../products/testing/product-samples.ts'
import { updateProduct } from '../products/update-product.ts'
import { batchProducts } from './batch-products.ts'

const { admin, db, takeStatements } = await testDatabase('catalog')
const send = serviceClient(db, [createProduct, getProduct, updateProduct, batchProducts])

const key = () => ({ 'idempotency-key': randomUUID() })

const sendBatch = (caller: Caller, rows: readonly unknown[], headers = {}) =>
  send<{ results: BatchResult[] }>(caller, 'POST', '/v1/products/batch', { rows }, headers)

/** The results of rows that are sent together. */
async function batch(caller: Caller, rows: readonly unknown[], headers = {}): Promise<BatchResult[]> {
  const { status, body } = await sendBatch(caller, rows, headers)
  expect([status, body.results?.length]).toEqual([200, rows.length])
  return body.results
}

/** `created`, or `sku conflict: …` */
const outcome = ({ status, error }: BatchResult) => (error === null ? status : `${error.code} ${error.message}`)
const outcomes = async (caller: Caller, rows: readonly unknown[]) => (await batch(caller, rows)).map(outcome)

const read = async (caller: Caller, id: string | null) =>
  (await send<Product>(caller, 'GET', `/v1/products/${id}`)).body
const create = async (caller: Caller, body: unknown) => (await send<Product>(caller, 'POST', '/v1/products', body)).body

const recordsOf = ({ workspaceId }: Caller) =>
  admin<{ type: string; payload: Partial<Product> }[]>`
    select type, payload from outbox where workspace_id = ${workspaceId} order by id`
const typesOf = async (caller: Caller) => (await recordsOf(caller)).map(({ type }) => type)

const mugs = (count: number, members: object = {}) =>
  Array.from({ length: count }, (_, n) => aSimpleProduct({ sku: `MUG-${n}`, name: `Mug ${n}`, ...members }))

describe('a row (OP-275)', () => {
  it('creates the product that its body makes by itself, and updates the one that has its SKU', async () => {
    const [caller, single] = [aCaller(), aCaller()]
    const shirt = aVariableProduct({ tags: ['New'], category: { name: 'Clothes' } })
    const jug = aSimpleProduct({ sku: 'JUG', name: 'Jug', description: 'x', categories: ['clothes'], slug: 'the-jug' })
    const known = await create(caller, aSimpleProduct({ sku: 'MUG', description: 'x' }))
    await create(single, shirt)
    await create(single, jug)
    const change = { sku: 'MUG', name: 'Red mug', description: null, stock: 9, tags: ['New', 'Red'] }
    const results = await batch(caller, [shirt, change])
    expect(results).toEqual([
      { status: 'created', id: expect.any(String), error: null, error_reason: null },
      { status: 'updated', id: known.id, error: null, error_reason: null },
    ])
    expect(await outcomes(caller, [jug])).toEqual(['created'])
    expect(await read(caller, known.id)).toMatchObject({ name: 'Red mug', description: null, total_stock: 9 })
    const shown = (products: readonly { payload: object }[]) =>
      JSON.stringify(products.map(({ payload }) => payload)).replaceAll(
        /[0-9a-f]{8}-[-0-9a-f]{27}|\d{4}-\d\d-\d\dT[^"]*/g,
        '',
      )
    const created = async (caller: Caller) => (await recordsOf(caller)).filter(({ type }) => type === 'product.created')
    expect(shown((await created(caller)).slice(1))).toBe(shown(await created(single)))
  })

  it('fires what a request of its own fires, and nothing when it changes nothing', async () => {
    const caller = aCaller()
    await create(caller, aSimpleProduct({ sku: 'OLD', name: 'Old' }))
    await create(caller, aSimpleProduct({ sku: 'SAME', name: 'Same' }))
    const before = (await typesOf(caller)).length
    const rows = [
      { sku: 'OLD', stock: 7 },
      { sku: 'SAME', name: 'Same' },
      aSimpleProduct({ sku: 'NEW', tags: ['Sale'], category: { name: 'Mugs' } }),
    ]
    expect(await outcomes(caller, rows)).toEqual(['updated', 'unchanged', 'created'])
    expect((await typesOf(caller)).slice(before)).toEqual([
      'category.created',
      'tag.created',
      'product.updated',
      'product.state',
      'product.created',
      'product.state',
    ])
    const [movement] = await admin`
      select reason from stock_movement where workspace_id = ${caller.workspaceId} and delta = 3`
    expect(movement?.reason).toBe('set')
  })

  it.each<[string, Record<string, unknown>]>([
    ['no name', aSimpleProduct({ name: undefined })],
    ['no type', aSimpleProduct({ type: undefined })],
    ['no stock', aSimpleProduct({ stock: undefined })],
    ['an unknown member', aSimpleProduct({ colour: 'red' })],
    ['a bad SKU', aSimpleProduct({ sku: ' A' })],
    ['a SKU that is no text', aSimpleProduct({ sku: 5 })],
    ['an unknown category', aSimpleProduct({ categories: ['none'] })],
    ['an unknown asset', aSimpleProduct({ medias: [{ asset: randomUUID() }] })],
    ['a status that the workspace has switched off', aSimpleProduct({ status: 'ARCHIVED' })],
    ['the slug of another product', aSimpleProduct({ slug: 'taken' })],
    ['options beside a simple type', aSimpleProduct({ options: [{ name: 'Size', values: ['S'] }] })],
    ['variants without options', aVariableProduct({ options: undefined })],
    [
      'a variant with the SKU of another product',
      aVariableProduct({ variants: [{ sku: 'TAKEN', attributes: { Size: 'S' }, stock: 1 }] }),
    ],
    [
      'two variants of one SKU',
      aVariableProduct({ variants: ['S', 'M'].map((Size) => ({ sku: 'A', attributes: { Size }, stock: 1 })) }),
    ],
  ])('of a new product with %s gets the error of POST /v1/products, and others are applied', async (_what, body) => {
    const caller = aCaller({ productStatuses: ['ACTIVE', 'HIDDEN'] })
    await create(caller, aSimpleProduct({ sku: 'TAKEN', slug: 'taken' }))
    const alone = await send(caller, 'POST', '/v1/products', body)
    const results = await batch(caller, [aSimpleProduct(), body, aSimpleProduct()])
    expect(results.map(outcome)).toEqual([
      'created',
      `${alone.body.error?.code} ${alone.body.error?.message}`,
      'created',
    ])
    expect(results[1]?.error_reason).toBe(alone.headers['error-reason'])
  })

  it.each<[string, object]>([
    ['a bad price', { price: { ABC: 1 } }],
    ['an empty price', { price: {} }],
    ['a blank name', { name: ' ' }],
    ['a type with variants, and a stock', { type: 'VARIABLE_PRODUCT', stock: 1 }],
    ['a media item that it does not have', { remove_medias: [randomUUID()] }],
    ['options, which only a new one takes', { options: [{ name: 'Size', values: ['S'] }] }],
    ['the slug of another product', { slug: 'taken' }],
  ])('of a known product with %s gets the error of PUT, and creates no tag', async (_what, change) => {
    const caller = aCaller()
    const { id } = await create(caller, aSimpleProduct({ sku: 'MUG' }))
    await create(caller, aSimpleProduct({ slug: 'taken' }))
    const body = { sku: 'MUG', tags: ['Never'], ...change }
    const alone = await send(caller, 'PUT', `/v1/products/${id}`, body)
    expect(await outcomes(caller, [body, aSimpleProduct()])).toEqual([
      `${alone.body.error.code} ${alone.body.error.message}`,
      'created',
    ])
    expect(await admin`select name from tag where workspace_id = ${caller.workspaceId}`).toHaveLength(0)
  })

  it('is refused when an earlier one has one of its SKUs, or gives its slug', async () => {
    const shirt = aVariableProduct()
    const [small] = shirt.variants
    const rows = [
      aSimpleProduct({ sku: 'A', slug: 'a' }),
      aSimpleProduct({ sku: 'A' }),
      aSimpleProduct({ sku: 'B', slug: 'a' }),
      shirt,
      aSimpleProduct({ sku: small?.sku }),
      5,
    ]
    const results = await batch(aCaller(), rows)
    expect(results.map(outcome)).toEqual([
      'created',
      'conflict sku: rows[0] has it already',
      'conflict slug: an earlier row gives "a" to another product',
      'created',
      'conflict sku: rows[3] has it already',
      'bad_request row: must be an object, not a number',
    ])
    const reasons = results.map(({ error_reason }) => error_reason)
    expect(reasons).toEqual([null, 'sku_taken', 'slug_taken', null, 'sku_taken', 'invalid_request'])
  })

  it('does not change a variant of a variable product', async () => {
    const caller = aCaller()
    const { variants } = await create(caller, aVariableProduct())
    expect(await outcomes(caller, [{ sku: variants[0]?.sku, stock: 1 }])).toEqual([
      'unprocessable sku: belongs to a variant of a VARIABLE_PRODUCT; change it with /v1/products/{id}/variants or /v1/stock/batch',
    ])
  })

  it('updates only for a key that may update, and never another workspace’s product', async () => {
    const caller = aCaller({ scopes: ['product::create'] })
    await create(caller, aSimpleProduct({ sku: 'MUG' }))
    const rows = [{ sku: 'MUG', stock: 1 }, aSimpleProduct({ sku: 'JUG' })]
    expect(await outcomes(caller, rows)).toEqual([
      'insufficient_scope API key lacks required scope: product::update',
      'created',
    ])
    const [of, another] = await outcomes(aCaller(), rows)
    expect([of, another]).toEqual([expect.stringContaining('bad_request name: '), 'created'])
  })

  it('has a slug of its own also when others have its name, in this batch or before', async () => {
    const caller = aCaller()
    await create(caller, aSimpleProduct({ name: 'Mug' }))
    await batch(caller, mugs(3, { name: 'Mug' }))
    const slugs = await admin`select slug from product where workspace_id = ${caller.workspaceId} order by id`
    expect(slugs.map(({ slug }) => slug)).toEqual(['mug', 'mug-2', 'mug-3', 'mug-4'])
  })

  it('has another slug than one that a row gives, however its accents are encoded (OP-14)', async () => {
    const caller = aCaller()
    const rows = [
      aSimpleProduct({ name: 'が shirt' }),
      aSimpleProduct({ name: 'B', slug: 'が-shirt'.normalize('NFD') }),
    ]
    expect(await outcomes(caller, rows)).toEqual(['created', 'created'])
    const slugs = await admin`select slug from product where workspace_id = ${caller.workspaceId} order by slug`
    expect(slugs.map(({ slug }) => slug)).toEqual(['が-shirt', 'が-shirt-2'].map((slug) => slug.normalize('NFC')))
  })
})

describe('a batch (OP-276, OP-277)', () => {
  it('has 1 to 1,000 rows', async () => {
    const { status, body } = await sendBatch(aCaller(), mugs(1001))
    expect([status, body]).toMatchObject([400, { error: { message: expect.stringContaining('rows: ') } }])
    expect((await sendBatch(aCaller(), [])).status).toBe(400)
  })

  it('names the request in each error', async () => {
    const { headers, body } = await sendBatch(aCaller(), [{}])
    expect(body.results[0]?.error?.request_id).toBe(headers['x-request-id'])
  })

  it('is applied once when it is sent again with its Idempotency-Key, with the same answer (OP-08)', async () => {
    const caller = aCaller()
    const [headers, rows] = [key(), [...mugs(3), {}]]
    const first = await batch(caller, rows, headers)
    const before = await recordsOf(caller)
    expect(await batch(caller, rows, headers)).toEqual(first)
    expect(await recordsOf(caller)).toEqual(before)
    expect((await sendBatch(caller, mugs(2), headers)).status).toBe(409)
  })

  it('applies nothing when it breaks off midway, and everything once when it is sent again', async () => {
    const caller = aCaller()
    const [headers, rows] = [key(), [...mugs(249), aSimpleProduct({ tags: ['last'] })]]
    // The third group of rows waits for this tag; the first two are written.
    const other = await admin.reserve()
    whenDone(() => other.release())
    await other`begin`
    await other`
      insert into tag (workspace_id, id, name, slug) values (${caller.workspaceId}, ${randomUUID()}, 'last', 'last')`
    const broken = sendBatch(caller, rows, headers)
    const kill = async () => {
      const killed = await admin`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and application_name = 'test'`
      return killed.length > 0
    }
    await eventually('the batch waits for the tag', kill)
    expect((await broken).status).toBe(503)
    await other`rollback`
    expect(await recordsOf(caller)).toHaveLength(0)
    expect((await batch(caller, rows, headers)).map(outcome)).toEqual(Array(250).fill('created'))
    expect(await recordsOf(caller)).toHaveLength(501)
    expect(await admin`select from product where workspace_id = ${caller.workspaceId}`).toHaveLength(250)
  })

  it('takes as many statements for each hundred rows, new and known, whatever they name', async () => {
    const statementsOf = async (count: number) => {
      const caller = aCaller()
      await create(caller, aSimpleProduct({ name: 'Mug' }))
      const rows = mugs(count, { name: 'Mug', tags: ['a', 'b'], category: { name: 'Mugs' } })
      takeStatements()
      await batch(caller, rows)
      const created = takeStatements().length
      await batch(
        caller,
        rows.map(({ sku }) => ({ sku, stock: 1, tags: ['c'] })),
      )
      return [created, takeStatements().length]
    }
    await statementsOf(2)
    const [of2, of100, of300, of500] = [
      await statementsOf(2),
      await statementsOf(100),
      await statementsOf(300),
      await statementsOf(500),
    ]
    expect(of100).toEqual(of2)
    const further = of500.map((count, index) => (count - (of300[index] ?? 0)) / 2)
    expect(Math.max(...further)).toBeLessThanOrEqual(10)
    expect(Math.max(...of100)).toBeLessThanOrEqual(20)
  })

  it('makes each product once when two batches have the same rows in opposite orders', async () => {
    const caller = aCaller()
    const rows = mugs(60)
    const [forth, back] = await Promise.all([batch(caller, rows), batch(caller, rows.toReversed())])
    const statuses = (results: BatchResult[]) => [...new Set(results.map(outcome))]
    expect([statuses(forth), statuses(back)].toSorted()).toEqual([['created'], ['unchanged']])
    expect(await admin`select from product where workspace_id = ${caller.workspaceId}`).toHaveLength(60)
  })

  it('updates what another batch creates while this one waits for a product of both', async () => {
    const caller = aCaller()
    const { id } = await create(caller, aSimpleProduct({ sku: 'OLD' }))
    const other = await admin.reserve()
    whenDone(() => other.release())
    await other`begin`
    await other`select from product where id = ${id} for update`
    const rows = [{ sku: 'OLD', stock: 7 }, aSimpleProduct({ sku: 'NEW' })]
    const both = Promise.all([batch(caller, rows), batch(caller, rows)])
    const areWaiting = async () => {
      const waiting = await admin`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and application_name = 'test'`
      return waiting.length === 2
    }
    await eventually('both wait for the product', areWaiting)
    await other`rollback`
    const results = (await both).map((one) => one.map(outcome))
    expect(results.toSorted()).toEqual([
      ['unchanged', 'unchanged'],
      ['updated', 'created'],
    ])
  })
})
