import { randomUUID } from 'node:crypto'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { aBatch, answersOf } from '@backoffice/importing/testing/import-batches.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { beforeEach, expect, it } from 'vitest'
import { aVariableProduct } from '../products/testing/product-samples.ts'
import { importsUnderTest } from './testing/applied-imports.ts'

const imports = await importsUnderTest()
const { admin, send, takeTransaction } = imports

const PRODUCTS = ['p', 'q', 'r', 's', 't', 'u']
const ROWS = PRODUCTS.map((name) => ({ sku: `${name}-1`, stock: 9 }))
let caller: Caller
beforeEach(async () => {
  caller = await largeProducts()
})

/** The caller of a workspace with products of 2,000 variants each, five of which are as many as a transaction has. */
async function largeProducts(): Promise<Caller> {
  const owner = aCaller()
  for (const slug of PRODUCTS) {
    const attributes = { Size: '0' }
    await imports.create(
      owner,
      aVariableProduct({
        ...{ slug, options: [{ name: 'Size', values: ['0'] }] },
        variants: [{ sku: `${slug}-0`, attributes, stock: 1 }],
      }),
    )
  }
  await admin`
    insert into variant (workspace_id, id, product_id, sku, stock, price, cost, attributes, position)
    select ${owner.workspaceId}, uuidv7(), id, slug || '-' || nth, 1, '{}', '{}', json_build_object('size', nth), nth + 1
    from product, generate_series(1, 1999) as nth where workspace_id = ${owner.workspaceId}`
  return owner
}

const stocksOf = async ({ workspaceId }: Caller) => {
  const rows = await admin<{ stock: number }[]>`
    select stock::integer from variant
    where workspace_id = ${workspaceId} and sku = any(${ROWS.map(({ sku }) => sku)}) order by sku`
  return rows.map(({ stock }) => stock)
}

it('a batch over more variants than a transaction has takes several, and is answered once, whole', async () => {
  const batch = aBatch(caller, 'stock', [{ sku: 'none', stock: 1 }, ...ROWS])
  const id = batch.data.import_id
  expect(await takeTransaction(batch)).toBe(true)
  expect(await stocksOf(caller)).toEqual([9, 9, 9, 9, 9, 1])
  expect(await answersOf(admin, id)).toEqual([])
  expect(await takeTransaction(batch)).toBe(false)
  expect(await stocksOf(caller)).toEqual([9, 9, 9, 9, 9, 9])
  // The record comes again after the answer.
  expect(await takeTransaction(batch)).toBe(false)
  const [answer, ...others] = await answersOf(admin, id)
  expect(answer?.rows.map(({ row, status }) => [row, status])).toEqual(
    [2, 3, 4, 5, 6, 7, 8].map((row) => [row, row === 2 ? 'failed' : 'updated']),
  )
  expect(others).toEqual([])
  // It is sent again long after, since its answer is lost.
  await admin`update inbox set received_at = now() - interval '1 hour' where workspace_id = ${caller.workspaceId}`
  expect(await takeTransaction(batch)).toBe(false)
  expect((await answersOf(admin, id)).at(1)).toEqual(answer)
  expect(await stocksOf(caller)).toEqual([9, 9, 9, 9, 9, 9])
  expect(await admin`select from begun_batch where workspace_id = ${caller.workspaceId}`).toEqual([])
})

it('a check over more variants than a transaction has is answered in parts to who takes them, else whole', async () => {
  const check = async (inParts: boolean, rows = ROWS) =>
    (await imports.request(caller, 'stock', rows, { inParts })).body
  expect((await check(true)).updated).toEqual([2, 3, 4, 5, 6])
  expect((await check(true, ROWS.slice(5))).updated).toEqual([2])
  expect((await check(false)).updated).toEqual([2, 3, 4, 5, 6, 7])
})

it('what the first transaction has set is not set again by the next ones: orders take stock in between', async () => {
  const batch = aBatch(caller, 'stock', ROWS)
  await takeTransaction(batch)
  const [sold] = await admin<[{ id: string }]>`
    select id from variant where workspace_id = ${caller.workspaceId} and sku = 'p-1'`
  const order = { order: randomUUID(), lines: [{ variant: sold.id, quantity: 2 }] }
  expect((await send(caller, 'POST', '/internal/stock/take', order)).status).toBe(200)
  await imports.apply(batch)
  expect(await stocksOf(caller)).toEqual([7, 9, 9, 9, 9, 9])
  expect(await imports.wrongStocks(caller)).toEqual([])
})

it('rows that are left when the import is undone fail', async () => {
  const batch = aBatch(caller, 'stock', ROWS)
  await takeTransaction(batch)
  expect(await imports.undone(caller, 'stock', batch.data.import_id)).toMatchObject({ restored: 5, kept: 0 })
  const rows = await imports.apply(batch)
  expect(rows.map(({ status }) => status)).toEqual([...Array(5).fill('updated'), 'failed'])
  expect(await stocksOf(caller)).toEqual([1, 1, 1, 1, 1, 1])
})

it('two replicas that have the same batch apply each row once', async () => {
  const batch = aBatch(caller, 'stock', ROWS)
  await Promise.all([imports.apply(batch), imports.apply(batch)])
  expect(await answersOf(admin, batch.data.import_id)).toHaveLength(1)
  expect(await imports.movementsOf(caller)).toHaveLength(6 * 2000 + 6)
})
