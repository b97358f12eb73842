import type { Fulfillment, Order } from '@backoffice/contracts/order.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { ordersService } from '../testing/orders-api.ts'

const { admin, send, catalog, createOrder, recordsOf, takeStatements } = await ordersService()

interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string }
}
const fulfil = <Body = Fulfillment>(caller: Caller, id: string, body?: unknown, headers?: Record<string, string>) =>
  send<Body>(caller, 'POST', `/v1/orders/${id}/fulfillments`, body, headers)
const read = async (caller: Caller, id: string) => (await send<Order>(caller, 'GET', `/v1/orders/${id}`)).body

/** A placed order with these quantities. */
async function placedOrder(caller: Caller, ...quantities: number[]) {
  const variants = await Promise.all(quantities.map(() => catalog.addVariant(caller)))
  const items = variants.map(({ id }, index) => ({ variant: id, quantity: quantities[index] }))
  const order = await createOrder(caller, { items, status: 'PLACED' })
  const itemIds = order.items.map(({ id }) => id)
  return { ...order, itemIds }
}

it('fulfils items part by part; fulfillment_status follows (OP-48)', async () => {
  const caller = aCaller()
  const { id, itemIds } = await placedOrder(caller, 3, 1)
  const [shirt = '', cap = ''] = itemIds
  const first = await fulfil(caller, id, { items: [{ id: shirt, quantity: 2 }] })
  expect(first).toMatchObject({ status: 201, body: { order: id, items: [{ id: shirt, quantity: 2 }] } })
  const second = await fulfil(caller, id, { items: [{ id: shirt, quantity: 1 }] })
  const rest = await fulfil(caller, id)
  expect(rest.body.items).toEqual([{ id: cap, quantity: 1 }])
  expect((await read(caller, id)).fulfillment_status).toBe('FULFILLED')
  // The events of one order are in order.
  expect((await recordsOf(id)).slice(2)).toMatchObject([
    { type: 'fulfillment.created', data: first.body },
    { type: 'order.updated', data: { fulfillment_status: 'PARTIALLY_FULFILLED' } },
    { type: 'fulfillment.created', data: second.body },
    { type: 'fulfillment.created', data: rest.body },
    { type: 'order.updated', data: { fulfillment_status: 'FULFILLED' } },
  ])
  const { body } = await send(caller, 'GET', `/v1/orders/${id}/fulfillments`)
  expect(body).toMatchObject({ total: 3, items: [rest.body, second.body, first.body] })
})

it('fulfils all that is open when items is missing or null (OP-43)', async () => {
  const caller = aCaller()
  for (const body of [undefined, {}, { items: null }]) {
    const { id, itemIds } = await placedOrder(caller, 2, 5)
    const items = itemIds.map((item, index) => ({ id: item, quantity: [2, 5][index] }))
    expect(await fulfil(caller, id, body)).toMatchObject({ status: 201, body: { items } })
    expect(await fulfil(caller, id, body)).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
  }
})

it('more than is open, and an unknown item, are unprocessable and change nothing (OP-48)', async () => {
  const caller = aCaller()
  const { id, itemIds } = await placedOrder(caller, 3, 1)
  const [shirt = '', cap = ''] = itemIds
  const stranger = (await placedOrder(caller, 1)).itemIds[0]
  const refused = [
    [
      [
        { id: cap, quantity: 1 },
        { id: shirt, quantity: 4 },
      ],
      'items[1].quantity: only 3',
    ],
    [
      [
        { id: shirt, quantity: 2 },
        { id: shirt, quantity: 2 },
      ],
      'items[1].quantity: only 3',
    ],
    [[{ id: shirt, quantity: Number.MAX_SAFE_INTEGER }], 'items[0].quantity: only 3'],
    [
      [
        { id: cap, quantity: 1 },
        { id: stranger, quantity: 1 },
      ],
      'items[1].id: the order has no item',
    ],
  ] as const
  for (const [items, message] of refused) {
    const answer = await fulfil<ErrorBody>(caller, id, { items })
    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'unprocessable' } } })
    expect(answer.body.error.message).toContain(message)
  }
  expect(await admin`select from fulfillment where order_id = ${id}`).toHaveLength(0)
  expect((await recordsOf(id)).map(({ type }) => type)).toEqual(['order.created', 'order.updated'])
})

it.each([
  { items: [] },
  { items: [{ id: 'shirt', quantity: 1 }] },
  { items: [{ id: crypto.randomUUID(), quantity: 0 }] },
  { items: [{ id: crypto.randomUUID(), quantity: 1.5 }] },
  { items: [{ id: crypto.randomUUID() }] },
  { items: [{ id: crypto.randomUUID(), quantity: 1, note: 'x' }] },
  { items: Array.from({ length: 1001 }, () => ({ id: crypto.randomUUID(), quantity: 1 })) },
  { item: [] },
])('refuses a malformed body as bad_request', async (body) => {
  const caller = aCaller()
  const { id } = await placedOrder(caller, 1)
  expect(await fulfil(caller, id, body)).toMatchObject({ status: 400, body: { error: { code: 'bad_request' } } })
})

it('an order at CART or CANCELLED is a conflict; one that is COMPLETED can be fulfilled (OP-48)', async () => {
  const caller = aCaller()
  const cart = await createOrder(caller)
  expect(await fulfil(caller, cart.id)).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
  await send(caller, 'PUT', `/v1/orders/${cart.id}`, { status: 'CANCELLED' })
  expect(await fulfil(caller, cart.id)).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
  const { id } = await placedOrder(caller, 1)
  await send(caller, 'PUT', `/v1/orders/${id}`, { status: 'COMPLETED' })
  expect((await fulfil(caller, id)).status).toBe(201)
})

it('an Idempotency-Key replays the answer (OP-08)', async () => {
  const caller = aCaller()
  const { id, itemIds } = await placedOrder(caller, 3)
  const key = { 'idempotency-key': 'k1' }
  const body = { items: [{ id: itemIds[0], quantity: 1 }] }
  const first = await fulfil(caller, id, body, key)
  expect(await fulfil(caller, id, body, key)).toMatchObject({ status: 201, body: first.body })
  expect(await admin`select fulfilled::int from order_item where order_id = ${id}`).toEqual([{ fulfilled: 1 }])
})

it("another workspace's order is not found, and another scope is refused (OP-04)", async () => {
  const caller = aCaller()
  const { id } = await placedOrder(caller, 1)
  expect((await fulfil(aCaller(), id)).status).toBe(404)
  expect((await send(aCaller(), 'GET', `/v1/orders/${id}/fulfillments`)).status).toBe(404)
  expect((await fulfil(aCaller({ ...caller, scopes: ['sale::read'] }), id)).status).toBe(403)
})

it('the number of statements does not depend on the number of lines', async () => {
  const caller = aCaller()
  for (const count of [1, 20]) {
    const { id } = await placedOrder(caller, ...Array.from({ length: count }, () => 1))
    takeStatements()
    await fulfil(caller, id)
    expect(takeStatements()).toHaveLength(8)
  }
})
