import type { Return } from '@backoffice/contracts/order.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { orderActs } from '../testing/order-acts.ts'
import { ordersService } from '../testing/orders-api.ts'

const service = await ordersService()
const { admin, send, catalog, createOrder, recordsOf, takeStatements } = service
const { put, read, pay, fulfil, takeBack, deliver, findings } = orderActs(service)

/** An order of a new variant at 1,000 EUR, of which there are 100, that is fulfilled but for one. */
async function sentOrder(caller: Caller, quantity: number) {
  const variant = await catalog.addVariant(caller)
  const { id, items } = await createOrder(caller, { items: [{ variant: variant.id, quantity }], status: 'PLACED' })
  const line = items[0]?.id
  await fulfil(caller, id, [line, quantity - 1])
  return { id, line, stock: () => catalog.stockOf(variant.id) }
}

it('goods that come back leave the order: totals follow, and what is to be sold again returns to stock (OP-210)', async () => {
  const caller = aCaller()
  const { id, line, stock } = await sentOrder(caller, 5)
  await pay(caller, id, 5000)
  const { status, body } = await takeBack(
    caller,
    id,
    [
      [line, 2, true],
      [line, 1, false],
    ],
    'r1',
  )
  expect([status, body]).toMatchObject([
    201,
    {
      order: id,
      items: [
        { id: line, quantity: 2, restock: true },
        { id: line, quantity: 1, restock: false },
      ],
      reference: 'r1',
    },
  ])
  const order = await read(caller, id)
  expect(order).toMatchObject({
    ...{ payment_status: 'PAID', fulfillment_status: 'PARTIALLY_FULFILLED', total_items: 2, total_price: 2000 },
    items: [{ id: line, quantity: 2, total_price: 2000 }],
  })
  expect((await recordsOf(id)).at(-1)).toMatchObject({ type: 'order.updated', data: order })
  expect(await stock()).toBe(97)
  expect((await send<{ items: Return[] }>(caller, 'GET', `/v1/orders/${id}/returns`)).body.items).toEqual([body])
  await deliver(caller)
  expect(await stock()).toBe(97)
  expect(await findings(caller)).toEqual([])
})

it('an order whose fulfilments all came back can be cancelled, and what was damaged is not sold again', async () => {
  const caller = aCaller()
  const { id, line, stock } = await sentOrder(caller, 3)
  await takeBack(caller, id, [
    [line, 1, true],
    [line, 1, false],
  ])
  expect(await read(caller, id)).toMatchObject({ fulfillment_status: 'UNFULFILLED', total_items: 1 })
  expect((await put(caller, id, { status: 'CANCELLED' })).status).toBe(200)
  await deliver(caller)
  expect(await stock()).toBe(99)
  expect(await findings(caller)).toEqual([])
})

it('a return of everything leaves a PLACED order of nothing', async () => {
  const caller = aCaller()
  const { id, line, stock } = await sentOrder(caller, 2)
  await fulfil(caller, id)
  await put(caller, id, { status: 'COMPLETED' })
  await takeBack(caller, id, [[line, 2, true]])
  expect(await read(caller, id)).toMatchObject({ status: 'COMPLETED', total_items: 0, total_price: 0 })
  await deliver(caller)
  expect(await stock()).toBe(100)
  expect(await findings(caller)).toEqual([])
})

it('a repeated reference answers the return that is there; other quantities or another restock are a conflict', async () => {
  const caller = aCaller()
  const { id, line, stock } = await sentOrder(caller, 9)
  const answers = await Promise.all(Array.from({ length: 8 }, () => takeBack(caller, id, [[line, 2, true]], 'r1')))
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(7).fill(200), 201])
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  for (const wanted of [[line, 3, true] as const, [line, 2, false] as const]) {
    expect(await takeBack(caller, id, [wanted], 'r1')).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict' } },
    })
  }
  await deliver(caller)
  expect(await stock()).toBe(93)
})

it('more than was fulfilled is unprocessable, a CART or CANCELLED order a conflict, a bad body bad_request', async () => {
  const caller = aCaller()
  const { id, line } = await sentOrder(caller, 3)
  const tooMuch = await takeBack(caller, id, [
    [line, 1, true],
    [line, 2, false],
  ])
  expect([tooMuch.status, tooMuch.body.error.message]).toEqual([
    422,
    'items[1].quantity: only 2 of this item is fulfilled; send 2 at most',
  ])
  const cart = await createOrder(caller)
  expect((await takeBack(caller, cart.id, [[cart.items[0]?.id, 1, true]])).status).toBe(409)
  await put(caller, cart.id, { status: 'CANCELLED' })
  expect((await takeBack(caller, cart.id, [[cart.items[0]?.id, 1, true]])).status).toBe(409)
  for (const body of [
    {},
    { items: [], reference: 'r' },
    { items: [{ id: line, quantity: 1, restock: true }] },
    { items: [{ id: line, quantity: 1 }], reference: 'r' },
  ]) {
    expect((await send(caller, 'POST', `/v1/orders/${id}/returns`, body)).status).toBe(400)
  }
  expect(await admin`select from goods_return where order_id = ${id}`).toHaveLength(0)
})

it("another workspace's order is not found, and another scope is refused (OP-04)", async () => {
  const caller = aCaller()
  const { id, line } = await sentOrder(caller, 2)
  expect((await takeBack(aCaller(), id, [[line, 1, true]])).status).toBe(404)
  expect((await send(aCaller(), 'GET', `/v1/orders/${id}/returns`)).status).toBe(404)
  expect((await takeBack(aCaller({ ...caller, scopes: ['sale::read'] }), id, [[line, 1, true]])).status).toBe(403)
})

it('needs a bounded number of statements', async () => {
  const caller = aCaller()
  const { id, line } = await sentOrder(caller, 3)
  takeStatements()
  await takeBack(caller, id, [[line, 1, true]])
  expect(takeStatements().length).toBeLessThan(14)
})
