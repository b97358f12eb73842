import { randomUUID } from 'node:crypto'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import type { ProductSettings } from './get-product-settings.ts'
import { aSimpleProduct, aVariableProduct } from './testing/product-samples.ts'
import { productApi } from './testing/products-api.ts'

const { send, create, takeStatements, anAsset } = await productApi()

const read = (caller: Caller, id: string) => send<ProductSettings>(caller, 'GET', `/v1/products/${id}/settings`)

it('answers what a create has sent and no product body shows, under the same names', async () => {
  const caller = aCaller()
  const asset = await anAsset(caller)
  const sent = {
    slug: 'mug',
    tags: ['New', 'Blue'],
    preorder_stops_at: '2030-06-01T12:00:00.000Z',
    max_cart_quantity: 5,
    low_stock_threshold: 2,
    purchase_note: 'Fragile',
    tax_class: randomUUID(),
  }
  const { sku, cost, ...simple } = aSimpleProduct(sent)
  const { id, media } = await create(caller, { ...simple, sku, cost, medias: [{ asset }] })
  const { status, body } = await read(caller, id)
  expect(status).toBe(200)
  const medias = [{ id: media[0]?.id, asset, position: media[0]?.position }]
  expect(body).toEqual({ ...sent, medias, variants: [{ sku, cost }] })
})

it('answers with all members for a product that was given none of them, and the cost of each variant', async () => {
  const caller = aCaller()
  const { id, variants } = await create(caller, aVariableProduct({ slug: 'shirt' }))
  expect((await read(caller, id)).body).toEqual({
    slug: 'shirt',
    tags: [],
    preorder_stops_at: null,
    max_cart_quantity: null,
    low_stock_threshold: null,
    purchase_note: null,
    tax_class: null,
    medias: [],
    variants: [
      { sku: variants[0]?.sku, cost: { NGN: 200 } },
      { sku: variants[1]?.sku, cost: {} },
    ],
  })
})

it('is for keys with the right to change products, as costs are nobody else’s business', async () => {
  const { workspaceId } = aCaller()
  const { id } = await create(aCaller({ workspaceId }), aSimpleProduct())
  const reader = aCaller({ workspaceId, scopes: ['product::read', 'product::create'] })
  const refused = await send(reader, 'GET', `/v1/products/${id}/settings`)
  expect([refused.status, refused.body.error.message]).toEqual([403, 'API key lacks required scope: product::update'])
  expect((await read(aCaller({ workspaceId, scopes: ['product::update'] }), id)).status).toBe(200)
})

it("answers 404 for an unknown id and for another workspace's product (OP-02)", async () => {
  const { id } = await create(aCaller(), aSimpleProduct())
  for (const one of [randomUUID(), id]) expect((await read(aCaller(), one)).status).toBe(404)
})

it('takes one statement besides the transaction’s own', async () => {
  const caller = aCaller()
  const { id } = await create(caller, aVariableProduct({ tags: ['New'] }))
  takeStatements()
  await read(caller, id)
  expect(takeStatements().length).toBeLessThanOrEqual(4)
})
