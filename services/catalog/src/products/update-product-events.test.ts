import { aCaller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { aSimpleProduct } from './testing/product-samples.ts'
import { productApi } from './testing/products-api.ts'

const { admin, clock, create, update, rowOf, recordsOf, anAsset } = await productApi()

describe('events', () => {
  it('commits product.updated with the response body and the state for projections', async () => {
    const caller = aCaller()
    const before = await create(caller, aSimpleProduct())
    clock.now = new Date('2026-03-03T10:00:00.000Z')
    const { body } = await update(caller, before.id, { slug: 'cup', cost: { NGN: 7 } })
    const [event, state] = (await recordsOf(before.id)).slice(2)
    expect(event).toMatchObject({
      topic: 'catalog.events',
      type: 'product.updated',
      payload: body,
      occurred_at: clock.now,
    })
    expect(state).toMatchObject({
      topic: 'catalog.products',
      type: 'product.state',
      payload: { slug: 'cup', version: 2 },
    })
    expect(state?.payload.variants[0].cost).toEqual({ NGN: 7 })
  })

  it('fires nothing and keeps updated_at when nothing changes (OP-73)', async () => {
    const caller = aCaller()
    const asset = await anAsset(caller)
    const input = aSimpleProduct({
      slug: 'mug',
      description: 'd',
      tags: ['New'],
      category: { name: 'Cups' },
      preorder_stops_at: '2026-05-01T00:00:00Z',
      tax_class: '7D1C2C1E-57BB-4F0E-9D5C-6A8A6F9D2B11',
      medias: [{ asset, position: 0 }],
      max_cart_quantity: 0,
      price: { NGN: 0 },
    })
    const before = await create(caller, input)
    clock.now = new Date('2026-03-04T10:00:00.000Z')
    const { category: _, ...same } = input as Record<string, unknown>
    for (const members of [{}, same, { category: { name: 'Cups' } }, { categories: ['cups'] }, { stock: 4 }]) {
      const { status, body } = await update(caller, before.id, members)
      expect([status, body]).toEqual([200, before])
    }
    const minusZero = `{"max_cart_quantity": -0, "price": {"NGN": -0}, "medias": [{"asset": "${asset}", "position": -0}]}`
    expect((await update(caller, before.id, minusZero)).body).toEqual(before)
    const ran =
      await admin`select type from outbox where workspace_id = ${caller.workspaceId} and type like 'product.%'`
    expect(ran).toHaveLength(2)
    expect((await rowOf(before.id))?.version).toBe('1')
  })
})
