import { ORDER_STATUSES, type Order, type Payment } from '@backoffice/contracts/order.ts'
import { aCaller, type Caller, testSigner } from '@backoffice/testing/caller.ts'
import { describe, expect, it } from 'vitest'
import { CatalogClient } from '../catalog/catalog-client.ts'
import { ordersService } from '../testing/orders-api.ts'

const { admin, send, catalog, createOrder, recordsOf, takeStatements, replica } = await ordersService()

/** A replica that cannot connect to catalog. */
const sendWithoutCatalog = replica(new CatalogClient('http://127.0.0.1:1', testSigner()))

const put = <Body = Order>(caller: Caller, id: string, body: unknown) =>
  send<Body>(caller, 'PUT', `/v1/orders/${id}`, body)

const typesOf = async (id: string) => (await recordsOf(id)).map(({ type }) => type)

/** An order of two pieces of a variant with this stock. */
async function orderOf(caller: Caller, stock: number, form: Record<string, unknown> = {}) {
  const variant = await catalog.addVariant(caller, { stock })
  const order = await createOrder(caller, { items: [{ variant: variant.id, quantity: 2 }], ...form })
  return { order, stock: () => catalog.stockOf(variant.id) }
}

/** An order that has reached a status. */
async function orderAt(caller: Caller, status: Order['status']) {
  const order = await createOrder(caller)
  if (status === 'PLACED' || status === 'COMPLETED') await put(caller, order.id, { status: 'PLACED' })
  if (status !== 'PLACED') await put(caller, order.id, { status })
  return order
}

it('changes note and promise_date; null unsets, a member that is not sent stays (OP-43, OP-09)', async () => {
  const caller = aCaller()
  const order = await createOrder(caller)
  const noted = await put(caller, order.id, { note: 'fragile', promise_date: '2026-03-01' })
  expect(noted).toMatchObject({ status: 200, body: { ...order, note: 'fragile', promise_date: '2026-03-01' } })
  const unset = await put(caller, order.id, { promise_date: null })
  expect(unset.body).toEqual({ ...noted.body, promise_date: null })
  expect((await send<Order>(caller, 'GET', `/v1/orders/${order.id}`)).body).toEqual(unset.body)
  expect(await recordsOf(order.id)).toMatchObject([
    { type: 'order.created' },
    { type: 'order.updated', data: noted.body },
    { type: 'order.updated', data: unset.body },
  ])
})

it('an update that changes nothing fires nothing (OP-73)', async () => {
  const caller = aCaller()
  const order = await createOrder(caller, { note: 'fragile', promise_date: '2026-03-01' })
  for (const body of [{}, { note: 'fragile', promise_date: '2026-03-01', status: 'CART' }]) {
    expect(await put(caller, order.id, body)).toMatchObject({ status: 200, body: order })
  }
  expect(await typesOf(order.id)).toEqual(['order.created'])
  const [row] = await admin`select created_at = updated_at as is_same from sales_order where id = ${order.id}`
  expect(row).toEqual({ is_same: true })
})

it('PLACED takes the stock, applies what is sent with it, and issues the invoice (OP-44, OP-45)', async () => {
  const caller = aCaller()
  const { order, stock } = await orderOf(caller, 3)
  const placed = await put(caller, order.id, { status: 'PLACED', note: 'fragile' })
  expect(placed).toMatchObject({ status: 200, body: { ...order, status: 'PLACED', note: 'fragile' } })
  expect(await stock()).toBe(1)
  expect(await put(caller, order.id, { status: 'PLACED' })).toMatchObject({ status: 200, body: placed.body })
  expect(await put(caller, order.id, { status: 'PLACED', note: null })).toMatchObject({ body: { note: null } })
  expect(await stock()).toBe(1)
  expect(await typesOf(order.id)).toEqual(['order.created', 'order.updated', 'order.updated'])
  expect((await send(caller, 'GET', `/v1/orders/${order.id}/invoices`)).body).toMatchObject({
    items: [{ number: '1', order: order.id, total: order.total_price, status: 'ISSUED' }],
  })
})

it('an order with nothing to pay is PAID once placed, with its events (OP-41)', async () => {
  const caller = aCaller()
  const { order } = await orderOf(caller, 3, { total_discount: 2000 })
  expect(order).toMatchObject({ total_price: 0, payment_status: 'UNPAID' })
  const { body } = await put(caller, order.id, { status: 'PLACED' })
  expect(body.payment_status).toBe('PAID')
  expect(await recordsOf(order.id)).toMatchObject([
    { type: 'order.created' },
    { type: 'order.updated', data: body },
    { type: 'order.paid', data: body },
    { type: 'invoice.paid', data: { number: '1', total: 0 } },
  ])
})

it('short stock is a conflict and changes nothing (OP-44)', async () => {
  const caller = aCaller()
  const { order, stock } = await orderOf(caller, 1)
  const refused = await put<{ error: unknown }>(caller, order.id, { status: 'PLACED', note: 'fragile' })
  expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
  expect((await send<Order>(caller, 'GET', `/v1/orders/${order.id}`)).body).toEqual(order)
  expect(await stock()).toBe(1)
  expect(await typesOf(order.id)).toEqual(['order.created'])
})

it('placing an order that has changed since it was read is refused before its stock is taken (OP-266)', async () => {
  const caller = aCaller()
  const { order } = await orderOf(caller, 3)
  const { headers } = await send(caller, 'GET', `/v1/orders/${order.id}`)
  await put(caller, order.id, { note: 'fragile' })
  const stale = { 'if-match': String(headers.etag) }
  const answer = await send(caller, 'PUT', `/v1/orders/${order.id}`, { status: 'PLACED' }, stale)
  expect(answer).toMatchObject({ status: 412, body: { error: { code: 'precondition_failed' } } })
  expect(
    await admin`select from outbox where workspace_id = ${caller.workspaceId} and type = 'reservation.released'`,
  ).toHaveLength(0)
})

it('without catalog an order stays at CART, and one that is placed can be cancelled (OP-44)', async () => {
  const caller = aCaller()
  const { order } = await orderOf(caller, 3)
  const path = `/v1/orders/${order.id}`
  expect(await sendWithoutCatalog(caller, 'PUT', path, { status: 'PLACED' })).toMatchObject({
    status: 503,
    body: { error: { code: 'service_unavailable' } },
  })
  expect((await send<Order>(caller, 'GET', path)).body).toEqual(order)
  await put(caller, order.id, { status: 'PLACED' })
  expect(await sendWithoutCatalog(caller, 'PUT', path, { status: 'CANCELLED' })).toMatchObject({
    status: 200,
    body: { status: 'CANCELLED' },
  })
  const released = await admin`
    select type from outbox where workspace_id = ${caller.workspaceId} and topic = 'orders.reservations'`
  expect(released.at(-1)).toEqual({ type: 'reservation.released' })
})

it('CANCELLED returns the stock, once (OP-44)', async () => {
  const caller = aCaller()
  const { order, stock } = await orderOf(caller, 3)
  await put(caller, order.id, { status: 'PLACED' })
  expect(await stock()).toBe(1)
  expect((await put(caller, order.id, { status: 'CANCELLED' })).body.status).toBe('CANCELLED')
  expect(await stock()).toBe(3)
  expect((await put(caller, order.id, { status: 'CANCELLED' })).status).toBe(200)
  expect(await stock()).toBe(3)
  expect(await typesOf(order.id)).toEqual(['order.created', 'order.updated', 'order.updated'])
  expect(await admin`select from reservation where order_id = ${order.id}`).toHaveLength(0)
})

describe('a status reaches the legal ones only; another is a conflict that changes nothing (OP-48)', () => {
  const legal = ['CART PLACED', 'CART CANCELLED', 'PLACED COMPLETED', 'PLACED CANCELLED']
  it.each(ORDER_STATUSES)('from %s', async (from) => {
    const caller = aCaller()
    for (const to of ORDER_STATUSES.filter((status) => status !== from)) {
      const { id } = await orderAt(caller, from)
      const before = await typesOf(id)
      const answer = await put<{ error: { message: string } }>(caller, id, { status: to, note: 'changed' })
      if (legal.includes(`${from} ${to}`)) {
        expect(answer).toMatchObject({ status: 200, body: { status: to, note: 'changed' } })
      } else {
        expect(answer).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
        expect(answer.body.error.message).toMatch(`status: an order cannot go from ${from} to ${to}`)
        expect((await send<Order>(caller, 'GET', `/v1/orders/${id}`)).body).toMatchObject({ status: from, note: null })
      }
      expect(await typesOf(id)).toHaveLength(before.length + (answer.status === 200 ? 1 : 0))
    }
  })
})

it('an order with a fulfilment cannot be cancelled (OP-143)', async () => {
  const caller = aCaller()
  const { id } = await orderAt(caller, 'PLACED')
  await send(caller, 'POST', `/v1/orders/${id}/fulfillments`)
  expect(await put(caller, id, { status: 'CANCELLED' })).toMatchObject({
    status: 409,
    body: {
      error: {
        message:
          'status: an order cannot go from PLACED to CANCELLED while it is FULFILLED; record a return of what was sent',
      },
    },
  })
  expect(await put(caller, id, { status: 'COMPLETED' })).toMatchObject({ body: { status: 'COMPLETED' } })
})

it.each([
  [{ status: null }, 'status'],
  [{ status: 'PAID' }, 'status'],
  [{ promise_date: '2026-02-30' }, 'promise_date'],
  [{ promise_date: '2026-03-01T00:00:00Z' }, 'promise_date'],
  [{ note: 'n'.repeat(65_537) }, 'note'],
  [{ note: 5 }, 'note'],
  [{ currency: 'EUR' }, 'currency: unknown member'],
  [[], 'body'],
])('refuses %j as bad_request', async (body, message) => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  const answer = await put<{ error: { message: string } }>(caller, id, body)
  expect(answer).toMatchObject({ status: 400, body: { error: { code: 'bad_request' } } })
  expect(answer.body.error.message).toContain(message)
})

it("another workspace's order is not found, and another scope is refused (OP-04)", async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  for (const body of [{ note: 'x' }, { status: 'PLACED' }, { status: 'CANCELLED' }]) {
    expect(await put(aCaller(), id, body)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
  }
  expect(await put(aCaller({ ...caller, scopes: ['sale::create'] }), id, {})).toMatchObject({ status: 403 })
  expect(await typesOf(id)).toEqual(['order.created'])
})

it('the number of statements does not depend on the number of lines', async () => {
  const caller = aCaller()
  const variants = await Promise.all(Array.from({ length: 20 }, () => catalog.addVariant(caller)))
  for (const count of [1, 20]) {
    const items = variants.slice(0, count).map(({ id }) => ({ variant: id, quantity: 1 }))
    const { id } = await createOrder(caller, { items })
    takeStatements()
    await put(caller, id, { note: 'fragile' })
    expect(takeStatements()).toHaveLength(7)
    await put(caller, id, { status: 'PLACED' })
    expect(takeStatements()).toHaveLength(17)
    await put(caller, id, { status: 'CANCELLED' })
    expect(takeStatements()).toHaveLength(9)
  }
})

it('a payment of an order that is CANCELLED settles it and issues no invoice (OP-47, OP-145)', async () => {
  const caller = aCaller()
  const { id, total_price } = await orderAt(caller, 'CANCELLED')
  const payment = { amount: total_price, currency: 'EUR', reference: 'p1' }
  expect((await send<Payment>(caller, 'POST', `/v1/orders/${id}/payments`, payment)).status).toBe(201)
  expect((await send<Order>(caller, 'GET', `/v1/orders/${id}`)).body).toMatchObject({
    status: 'CANCELLED',
    payment_status: 'PAID',
  })
  expect((await typesOf(id)).slice(-2)).toEqual(['order.updated', 'order.paid'])
  expect(await admin`select from invoice where order_id = ${id}`).toHaveLength(0)
})
