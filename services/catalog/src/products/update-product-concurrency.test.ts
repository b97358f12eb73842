import { aCaller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { aSimpleProduct, aVariableProduct } from './testing/product-samples.ts'
import { productApi } from './testing/products-api.ts'

const { admin, create, read, update, remove, recordsOf, rowOf, tagsOf } = await productApi()
const ROUNDS = Array.from({ length: 20 }, (_, round) => round)

describe('two updates at once', () => {
  it('are both applied field by field, with one event each, in the order of their commits', async () => {
    const caller = aCaller()
    for (const round of ROUNDS) {
      const { id } = await create(caller, aSimpleProduct())
      const answers = await Promise.all([
        update(caller, id, { description: `d${round}`, tags: ['a'] }),
        update(caller, id, { stock: 7, slug: `mug-of-round-${round}` }),
      ])
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      const product = await read(caller, id)
      expect(product).toMatchObject({ description: `d${round}`, total_stock: 7 })
      expect(await rowOf(id)).toMatchObject({ slug: `mug-of-round-${round}`, version: '3' })
      expect(await tagsOf(id)).toEqual(['a'])
      const records = await recordsOf(id)
      const events = records.filter(({ type }) => type === 'product.updated')
      expect(events).toHaveLength(2)
      expect(events[1]?.payload).toEqual(product)
      const states = records.filter(({ type }) => type === 'product.state')
      expect(states.map(({ payload }) => payload.version)).toEqual([1, 2, 3])
    }
  })

  it('to the same slug or SKU leave it with one of them', async () => {
    const caller = aCaller()
    for (const round of ROUNDS) {
      const products = [await create(caller, aSimpleProduct()), await create(caller, aSimpleProduct())]
      for (const members of [{ slug: `slug-${round}` }, { sku: `SKU-${round}` }]) {
        const answers = await Promise.all(products.map(({ id }) => update(caller, id, members)))
        expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
      }
    }
  })

  it('that switch the type back and forth leave a product that is whole', async () => {
    const caller = aCaller()
    for (const _ of ROUNDS) {
      const { id } = await create(caller, aVariableProduct())
      await Promise.all([
        update(caller, id, { type: 'SIMPLE_PRODUCT' }),
        update(caller, id, { type: 'VARIABLE_PRODUCT' }),
        update(caller, id, { type: 'VIRTUAL_PRODUCT' }),
      ])
      const { type, variants, options } = await read(caller, id)
      if (type === 'VARIABLE_PRODUCT') expect([0, 2]).toContain(variants.length)
      else expect([variants.length, options.length]).toEqual([1, 0])
      const [unequal] = await admin`
        select coalesce(sum(stock), 0) - (select coalesce(sum(delta), 0) from stock_movement where product_id = ${id}) as difference
        from variant where product_id = ${id}`
      expect(unequal?.difference).toBe('0')
    }
  })
})

it('an update and a deletion at once: the product is gone, and its last record is the end of its state', async () => {
  const caller = aCaller()
  for (const _ of ROUNDS) {
    const { id } = await create(caller, aSimpleProduct())
    const [updated, deleted] = await Promise.all([update(caller, id, { name: 'Cup' }), remove(caller, id)])
    expect([200, 404]).toContain(updated.status)
    expect(deleted.status).toBe(204)
    const records = await recordsOf(id)
    expect(records.slice(-2)).toMatchObject([
      { type: 'product.deleted', payload: { id } },
      { type: 'product.state', payload: null },
    ])
  }
})
