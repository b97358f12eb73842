import { randomUUID } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { aSimpleProduct, aVariableProduct } from './testing/product-samples.ts'
import { productApi } from './testing/products-api.ts'

const { admin, send, create, remove, recordsOf, anAsset, takeStatements } = await productApi()

it('deletes a product with all that belongs to it, and answers 204 without a body (OP-17)', async () => {
  const caller = aCaller()
  const medias = [{ asset: await anAsset(caller) }]
  const { id } = await create(caller, aVariableProduct({ tags: ['New'], category: { name: 'Shirts' }, medias }))
  const { status, body } = await remove(caller, id)
  expect([status, body]).toEqual([204, undefined])
  for (const table of ['product', 'variant', 'product_option', 'product_category', 'product_tag', 'media']) {
    const rows = await admin`select from ${admin(table)} where workspace_id = ${caller.workspaceId}`
    expect([table, rows.length]).toEqual([table, 0])
  }
  expect((await send(caller, 'GET', `/v1/products/${id}`)).status).toBe(404)
})

it('leaves categories, tags, options and assets, which belong to the workspace', async () => {
  const caller = aCaller()
  const medias = [{ asset: await anAsset(caller) }]
  const { id } = await create(caller, aVariableProduct({ tags: ['New'], category: { name: 'Shirts' }, medias }))
  await remove(caller, id)
  for (const table of ['category', 'tag', 'option', 'asset']) {
    const rows = await admin`select from ${admin(table)} where workspace_id = ${caller.workspaceId}`
    expect([table, rows.length]).toEqual([table, 1])
  }
})

it('fires product.deleted with its id, and ends its state for projections', async () => {
  const caller = aCaller()
  const { id } = await create(caller, aSimpleProduct())
  await remove(caller, id)
  expect((await recordsOf(id)).slice(2)).toMatchObject([
    { topic: 'catalog.events', type: 'product.deleted', payload: { id } },
    { topic: 'catalog.products', type: 'product.state', payload: null },
  ])
})

it('takes the stock out of the ledger with the variants', async () => {
  const caller = aCaller()
  const { id } = await create(caller, aVariableProduct())
  await remove(caller, id)
  const movements = await admin`
    select variant_id, sum(delta)::int as sum, array_agg(reason order by id) as reasons
    from stock_movement where product_id = ${id} group by variant_id`
  expect(movements.map(({ sum, reasons }) => [sum, reasons])).toEqual([
    [0, ['created', 'deleted']],
    [0, ['created', 'deleted']],
  ])
})

it('lets the SKU and the slug be used again', async () => {
  const caller = aCaller()
  const input = aSimpleProduct({ slug: 'mug' })
  const first = await create(caller, input)
  await remove(caller, first.id)
  expect((await create(caller, input)).variants[0]?.sku).toBe(input.sku)
})

it('does not find another workspace’s product, one that is not there, or one deleted before', async () => {
  const caller = aCaller()
  const { id } = await create(caller, aSimpleProduct())
  for (const [who, which] of [
    [aCaller(), id],
    [caller, randomUUID()],
  ] as const) {
    const { status, body } = await remove(who, which)
    expect([status, body.error.code]).toEqual([404, 'not_found'])
  }
  expect((await remove(caller, id)).status).toBe(204)
  expect((await remove(caller, id)).status).toBe(404)
})

it('refuses an id that is no UUID, a body, and a key without product::delete', async () => {
  const caller = aCaller()
  const { id } = await create(caller, aSimpleProduct())
  expect((await remove(caller, 'mug')).status).toBe(400)
  expect((await send(caller, 'DELETE', `/v1/products/${id}`, { reason: 'x' })).status).toBe(400)
  expect((await remove({ ...caller, scopes: ['product::update'] }, id)).status).toBe(403)
})

it('sends at most 7 statements, whatever the number of variants', async () => {
  const caller = aCaller()
  const values = Array.from({ length: 200 }, (_, index) => `v${index}`)
  const { id } = await create(
    caller,
    aVariableProduct({
      options: [{ name: 'Kind', values }],
      variants: values.map((value) => ({ sku: randomUUID(), attributes: { Kind: value }, stock: 1 })),
    }),
  )
  takeStatements()
  expect((await remove(caller, id)).status).toBe(204)
  expect(takeStatements().length).toBeLessThanOrEqual(7)
})
