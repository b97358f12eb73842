import { randomUUID } from 'node:crypto'
import type { Product } from '@backoffice/contracts/product.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { expect, it } from 'vitest'
import { createProduct } from './create-product.ts'
import { getProduct } from './get-product.ts'
import { aSimpleProduct, aVariableProduct } from './testing/product-samples.ts'

const { db } = await testDatabase('catalog')
const send = serviceClient(db, [createProduct, getProduct])

it.each([
  ['SIMPLE', aSimpleProduct({ category: { name: 'Cups' }, tags: ['New'], description: '' })],
  ['VARIABLE', aVariableProduct({ status: 'HIDDEN', can_preorder: true })],
])('reads a %s product exactly as create answered it', async (_, product) => {
  const caller = aCaller()
  const made = await send<Product>(caller, 'POST', '/v1/products', product)
  const read = await send<Product>(caller, 'GET', `/v1/products/${made.body.id}`)
  expect(read.status).toBe(200)
  expect(read.body).toEqual(made.body)
})

it('takes an id in either case', async () => {
  const caller = aCaller()
  const { body } = await send<Product>(caller, 'POST', '/v1/products', aSimpleProduct())
  expect((await send<Product>(caller, 'GET', `/v1/products/${body.id.toUpperCase()}`)).body).toEqual(body)
})

it("answers 404 for an unknown id and for another workspace's product (OP-02)", async () => {
  const { body } = await send<Product>(aCaller(), 'POST', '/v1/products', aSimpleProduct())
  for (const id of [randomUUID(), body.id]) {
    const answer = await send(aCaller(), 'GET', `/v1/products/${id}`)
    expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found'])
  }
})

it('refuses an id that is no UUID with bad_request (OP-09)', async () => {
  const answer = await send(aCaller(), 'GET', '/v1/products/17')
  expect([answer.status, answer.body.error.code]).toEqual([400, 'bad_request'])
  expect(answer.body.error.message).toBe('id: must be a UUID')
})
