import type { BatchResult } from '@backoffice/contracts/batches.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { expect, it } from 'vitest'
import { createProduct } from '../products/create-product.ts'
import { getProduct } from '../products/get-product.ts'
import { aSimpleProduct, aVariableProduct } from '../products/testing/product-samples.ts'
import { batchStock } from './batch-stock.ts'

const { admin, db } = await testDatabase('catalog')
const send = serviceClient(db, [createProduct, getProduct, batchStock])

it('sets the stock of SKUs of any product, with one event for each product (OP-275)', async () => {
  const caller = aCaller()
  const create = async (body: unknown) => (await send<Product>(caller, 'POST', '/v1/products', body)).body
  const shirt = await create(aVariableProduct())
  const mug = await create(aSimpleProduct({ sku: 'MUG', stock: 4 }))
  await create(aSimpleProduct({ sku: 'SAME', stock: 4 }))
  await admin`delete from outbox`
  const rows = [
    { sku: 'MUG', stock: 1 },
    ...shirt.variants.map(({ sku }) => ({ sku, stock: 8 })),
    { sku: 'SAME', stock: 4 },
    { sku: 'NONE', stock: 4 },
    { sku: 'SAME', stock: 5 },
    { sku: 'MUG-2', stock: -1 },
    { sku: 'MUG-3', stock: 1, price: {} },
  ]
  const { status, body } = await send<{ results: BatchResult[] }>(caller, 'POST', '/v1/stock/batch', { rows })
  expect(status).toBe(200)
  expect(body.results.map((result) => [result.status, result.id, result.error?.code, result.error?.message])).toEqual([
    ['updated', mug.id, undefined, undefined],
    ['updated', shirt.id, undefined, undefined],
    ['updated', shirt.id, undefined, undefined],
    ['unchanged', expect.any(String), undefined, undefined],
    ['failed', null, 'unprocessable', 'sku: this workspace has no "NONE"'],
    ['failed', null, 'conflict', 'sku: rows[3] has it already'],
    ['failed', null, 'bad_request', 'stock: must be at least 0'],
    ['failed', null, 'bad_request', 'price: unknown member'],
  ])
  const stockOf = async ({ id }: Product) => (await send<Product>(caller, 'GET', `/v1/products/${id}`)).body.total_stock
  expect([await stockOf(mug), await stockOf(shirt)]).toEqual([1, 16])
  const events = await admin`select key from outbox where type = 'product.updated' order by id`
  expect(events.map(({ key }) => key).toSorted()).toEqual([mug.id, shirt.id].toSorted())
})
