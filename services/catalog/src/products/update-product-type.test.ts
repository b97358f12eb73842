import { randomUUID } from 'node:crypto'
import { aCaller } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { aSimpleProduct, aVariableProduct } from './testing/product-samples.ts'
import { productApi } from './testing/products-api.ts'

const { admin, create, read, update, refuse } = await productApi()

describe('Update rule 6: a type switch is honoured (OP-16)', () => {
  it('removes the default variant when a simple product becomes variable', async () => {
    const caller = aCaller()
    const before = await create(caller, aSimpleProduct())
    const { status, body } = await update(caller, before.id, { type: 'VARIABLE_PRODUCT' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ type: 'VARIABLE_PRODUCT', variants: [], options: [], total_stock: 0 })
    expect(await read(caller, before.id)).toEqual(body)
    const [ledger] = await admin`select sum(delta)::int as sum from stock_movement where product_id = ${before.id}`
    expect(ledger?.sum).toBe(0)
  })

  it('makes the default variant of what is sent when a variable product becomes simple', async () => {
    const caller = aCaller()
    const before = await create(caller, aVariableProduct())
    const members = { sku: before.variants[1]?.sku, price: { EUR: 5 }, stock: 8 }
    const { status, body } = await update(caller, before.id, { type: 'SIMPLE_PRODUCT', ...members })
    expect(status).toBe(200)
    expect(body).toMatchObject({ type: 'SIMPLE_PRODUCT', options: [], variants: [{ ...members, attributes: {} }] })
    expect(before.variants.map(({ id }) => id)).not.toContain(body.variants[0]?.id)
    expect(await read(caller, before.id)).toEqual(body)
  })

  it('takes what is not sent from the first variant', async () => {
    const caller = aCaller()
    const before = await create(caller, aVariableProduct())
    const { body } = await update(caller, before.id, { type: 'VIRTUAL_PRODUCT' })
    const { sku, stock, price } = before.variants[0] ?? {}
    expect(body.variants).toEqual([{ id: expect.any(String), sku, stock, price, attributes: {} }])
    expect(body.requires_shipping).toBe(true)
    const [variant] = await admin`select cost from variant where product_id = ${before.id}`
    expect(variant?.cost).toEqual({ NGN: 200 })
  })

  it('asks for sku and stock when there is no variant to take them from', async () => {
    const caller = aCaller()
    const { id } = await create(caller, aSimpleProduct())
    await update(caller, id, { type: 'VARIABLE_PRODUCT' })
    const [status, code, message] = await refuse(caller, id, { type: 'SIMPLE_PRODUCT', stock: 1 })
    expect([status, code]).toEqual([422, 'unprocessable'])
    expect(message).toMatch(/^sku: is required/)
    const { body } = await update(caller, id, { type: 'SIMPLE_PRODUCT', sku: randomUUID(), stock: 1 })
    expect(body.total_stock).toBe(1)
  })

  it('only changes the type between simple and virtual', async () => {
    const caller = aCaller()
    const before = await create(caller, aSimpleProduct())
    const { body } = await update(caller, before.id, { type: 'VIRTUAL_PRODUCT' })
    expect(body).toEqual({ ...before, type: 'VIRTUAL_PRODUCT', updated_at: body.updated_at })
  })

  it('refuses default variant members together with the switch to variable', async () => {
    const caller = aCaller()
    const before = await create(caller, aSimpleProduct())
    const [status, , message] = await refuse(caller, before.id, { type: 'VARIABLE_PRODUCT', stock: 1 })
    expect([status, message.startsWith('stock: ')]).toEqual([422, true])
    expect(await read(caller, before.id)).toEqual(before)
  })
})
