import { randomUUID } from 'node:crypto'
import type { Product } from '@backoffice/contracts/product.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { expect, it } from 'vitest'
import { createProduct } from './create-product.ts'
import { deleteProduct } from './delete-product.ts'
import { findExistingProducts } from './find-existing-products.ts'
import { aSimpleProduct } from './testing/product-samples.ts'

const { db, takeStatements } = await testDatabase('catalog')
const send = serviceClient(db, [createProduct, deleteProduct, findExistingProducts])

const create = async (caller: Caller, differences = {}) =>
  (await send<Product>(caller, 'POST', '/v1/products', aSimpleProduct(differences))).body.id
const find = (caller: Caller, products: unknown[]) =>
  send<{ products: string[] }>(caller, 'POST', '/internal/products/existing', { products })

it('names the products that the workspace has, hidden ones too, each once, whatever the case of the ids', async () => {
  const caller = aCaller()
  const [shown, hidden] = [await create(caller), await create(caller, { status: 'HIDDEN' })]
  takeStatements()
  const { body } = await find(caller, [hidden, shown.toUpperCase(), shown, randomUUID()])
  expect(body.products.toSorted()).toEqual([shown, hidden].toSorted())
  expect(takeStatements().length).toBeLessThanOrEqual(4)
})

it('leaves out deleted products and those of other workspaces', async () => {
  const caller = aCaller()
  const [deleted, theirs] = [await create(caller), await create(aCaller())]
  await send(caller, 'DELETE', `/v1/products/${deleted}`)
  expect((await find(caller, [deleted, theirs])).body).toEqual({ products: [] })
})

it('takes 1 to 1,000 ids (OP-07)', async () => {
  const caller = aCaller()
  for (const products of [[], Array.from({ length: 1001 }, () => randomUUID()), ['mug']]) {
    expect((await find(caller, products)).status).toBe(400)
  }
})
