import type { Order } from '@backoffice/contracts/order.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { ordersService } from '../testing/orders-api.ts'

const { send, catalog, createOrder, recordsOf } = await ordersService()

it('an order is created at CART with the prices of this moment (OP-41, OP-44)', async () => {
  const caller = aCaller()
  const shirt = await catalog.addVariant(caller, { price: { EUR: 1000, USD: 1200 } })
  const cap = await catalog.addVariant(caller, { name: 'Cap', price: { EUR: 300 } })
  const { status, body } = await send<Order>(caller, 'POST', '/v1/orders', {
    currency: 'EUR',
    items: [
      { variant: shirt.id, quantity: 2 },
      { sku: cap.sku, quantity: 3, negotiated_unit_price: 250 },
    ],
    customer: { firstname: 'Ada', lastname: 'Byron', email: 'Ada@example.com' },
    total_shipping: 500,
    total_tax: 100,
    total_discount: 50,
  })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    status: 'CART',
    payment_status: 'UNPAID',
    fulfillment_status: 'UNFULFILLED',
    customer: { name: 'Ada Byron', email: 'Ada@example.com' },
    items: [
      { title: 'Shirt', sku: shirt.sku, quantity: 2, unit_price: 1000, negotiated_unit_price: null, total_price: 2000 },
      { title: 'Cap', sku: cap.sku, quantity: 3, unit_price: 300, negotiated_unit_price: 250, total_price: 750 },
    ],
    subtotal_price: 2750,
    total_price: 3300,
    total_items: 5,
  })
  expect((await send<Order>(caller, 'GET', `/v1/orders/${body.id}`)).body).toEqual(body)
  expect(await recordsOf(body.id)).toEqual([{ topic: 'orders.events', type: 'order.created', data: body }])
})

it('a form that asks for PLACED takes the stock, and fires order.created at CART and order.updated (OP-44)', async () => {
  const caller = aCaller()
  const shirt = await catalog.addVariant(caller, { stock: 3 })
  const form = { currency: 'EUR', items: [{ variant: shirt.id, quantity: 2 }], status: 'PLACED' }
  const { status, body } = await send<Order>(caller, 'POST', '/v1/orders', form)
  expect(status).toBe(201)
  expect(body.status).toBe('PLACED')
  expect(await catalog.stockOf(shirt.id)).toBe(1)
  expect(await recordsOf(body.id)).toMatchObject([
    { type: 'order.created', data: { status: 'CART' } },
    { type: 'order.updated', data: body },
  ])
  expect(await send(caller, 'POST', '/v1/orders', form)).toMatchObject({
    status: 409,
    body: { error: { code: 'conflict' } },
  })
  expect(await catalog.stockOf(shirt.id)).toBe(1)
  expect((await createOrder(caller)).status).toBe('CART')
})
