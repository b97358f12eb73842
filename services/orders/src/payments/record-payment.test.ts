import type { Invoice, Order, Payment } from '@backoffice/contracts/order.ts'
import { aCaller, type Caller, testSigner } from '@backoffice/testing/caller.ts'
import { describeWalks } from '@backoffice/testing/list-walk.ts'
import { expect, it } from 'vitest'
import { CatalogClient } from '../catalog/catalog-client.ts'
import { ordersService } from '../testing/orders-api.ts'

const { admin, send, catalog, createOrder, recordsOf, takeStatements, replica } = await ordersService()

/** A replica that cannot connect to catalog. */
const sendWithoutCatalog = replica(new CatalogClient('http://127.0.0.1:1', testSigner()))

interface PageOf<Item> {
  readonly total: number
  readonly items: Item[]
}
interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string }
}

const pay = <Body = Payment>(
  caller: Caller,
  id: string,
  members: Record<string, unknown> = {},
  headers?: Record<string, string>,
) =>
  send<Body>(
    caller,
    'POST',
    `/v1/orders/${id}/payments`,
    { amount: 2000, currency: 'EUR', reference: 'p1', ...members },
    headers,
  )

const read = async (caller: Caller, id: string) => (await send<Order>(caller, 'GET', `/v1/orders/${id}`)).body
const invoicesOf = async (caller: Caller, id: string) =>
  (await send<PageOf<Invoice>>(caller, 'GET', `/v1/orders/${id}/invoices`)).body.items
const typesOf = async (id: string) => (await recordsOf(id)).map(({ type }) => type)

/** An order of 2,000 EUR, placed unless its stock is short. */
async function placedOrder(caller: Caller) {
  const order = await createOrder(caller)
  return (await send<Order>(caller, 'PUT', `/v1/orders/${order.id}`, { status: 'PLACED' })).body
}

it('the first full payment settles the order: order.paid and invoice.paid fire once (OP-45, OP-47)', async () => {
  const caller = aCaller()
  const order = await placedOrder(caller)
  const metadata = { card: { last4: '4242' } }
  const { status, body } = await pay(caller, order.id, { provider: 'cards', metadata })
  expect(status).toBe(201)
  expect(body).toEqual({
    id: expect.any(String),
    order: order.id,
    amount: 2000,
    currency: 'EUR',
    provider: 'cards',
    reference: 'p1',
    metadata,
    created_at: expect.any(String),
  })
  const paid = await read(caller, order.id)
  expect(paid).toEqual({ ...order, payment_status: 'PAID' })
  const [invoice] = await invoicesOf(caller, order.id)
  expect(invoice).toMatchObject({ number: '1', total: 2000, status: 'PAID' })
  const { id, number, currency, total } = invoice as Invoice
  expect((await recordsOf(order.id)).slice(2)).toEqual([
    { topic: 'orders.events', type: 'order.updated', data: paid },
    { topic: 'orders.events', type: 'order.paid', data: paid },
    { topic: 'orders.events', type: 'invoice.paid', data: { id, number, order: order.id, currency, total } },
  ])
})

it('parts add up; a part fires order.updated when payment_status changes; the surplus stays visible (OP-47, OP-144)', async () => {
  const caller = aCaller()
  const { id } = await placedOrder(caller)
  await pay(caller, id, { amount: 500, reference: 'p1' })
  expect((await read(caller, id)).payment_status).toBe('PARTIALLY_PAID')
  expect(await typesOf(id)).toEqual(['order.created', 'order.updated', 'order.updated'])
  await pay(caller, id, { amount: 500, reference: 'p2' })
  expect(await typesOf(id)).toHaveLength(3)
  await pay(caller, id, { amount: 1700, reference: 'p3' })
  expect((await read(caller, id)).payment_status).toBe('PAID')
  await pay(caller, id, { amount: 1, reference: 'p4' })
  expect((await typesOf(id)).slice(3)).toEqual(['order.updated', 'order.paid', 'invoice.paid'])
  const { body } = await send<PageOf<Payment>>(caller, 'GET', `/v1/orders/${id}/payments`)
  expect(body.total).toBe(4)
  expect(body.items.map(({ reference, amount }) => [reference, amount])).toEqual([
    ['p4', 1],
    ['p3', 1700],
    ['p2', 500],
    ['p1', 500],
  ])
  const second = await send<PageOf<Payment>>(caller, 'GET', `/v1/orders/${id}/payments?page=2&limit=3`)
  expect(second.body.items.map(({ reference }) => reference)).toEqual(['p1'])
})

it('a reference is recorded once per provider, and once without one; each replay answers its own payment (OP-215)', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  const providers = ['cards', 'bank', null, 'gift']
  const payAll = () =>
    Promise.all(providers.map((provider, index) => pay(caller, id, { provider, amount: 100 + index })))
  const first = await payAll()
  expect(first.map(({ status, body }) => [status, body.provider, body.reference, body.amount])).toEqual(
    providers.map((provider, index) => [201, provider, 'p1', 100 + index]),
  )
  const again = await payAll()
  expect(again.map(({ status, body }) => [status, body])).toEqual(first.map(({ body }) => [200, body]))
  const { body } = await send<PageOf<Payment>>(caller, 'GET', `/v1/orders/${id}/payments`)
  const byId = (some: Payment, other: Payment) => (some.id < other.id ? -1 : 1)
  expect(body.items.toSorted(byId)).toEqual(first.map(({ body }) => body).toSorted(byId))
  expect(await admin`select paid::int from sales_order where id = ${id}`).toEqual([{ paid: 406 }])
  const refused = await pay<ErrorBody>(caller, id, { provider: 'bank', amount: 100 })
  expect([refused.status, refused.body.error.message]).toEqual([
    409,
    expect.stringContaining('"p1" is the payment of 101'),
  ])
})

it('the payments that 3 providers report under one reference, 5 times each and at once, are recorded once each', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  const reports = Array.from({ length: 15 }, (_, index) => ['cards', 'bank', null][index % 3])
  const answers = await Promise.all(reports.map((provider) => pay(caller, id, { provider, amount: 1 })))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(12).fill(200), ...Array(3).fill(201)])
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(3)
  expect(await admin`select paid::int from sales_order where id = ${id}`).toEqual([{ paid: 3 }])
})

it('a payment that was recorded under another reference than it was sent with is found by the one it was sent with', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  const { body } = await pay(caller, id, { provider: 'bank', amount: 1 })
  await admin`update payment set sent_reference = reference, reference = 'other' where id = ${body.id}`
  expect(await pay(caller, id, { provider: 'bank', amount: 1 })).toMatchObject({ status: 200, body })
})

it('a reference is recorded once per order and provider; a replay answers the same payment (OP-43, OP-142)', async () => {
  const caller = aCaller()
  const [one, other] = [await placedOrder(caller), await placedOrder(caller)]
  const first = await pay(caller, one.id, { provider: 'cards' })
  // The rest of the request does not matter for a replay.
  const replay = await pay(caller, one.id, { provider: 'cards', metadata: { attempt: 2 } })
  expect(replay).toMatchObject({ status: 200, body: first.body })
  expect((await pay(caller, other.id)).status).toBe(201)
  for (const members of [{ amount: 1999 }, { currency: 'USD' }]) {
    expect(await pay(caller, one.id, { provider: 'cards', ...members })).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict' } },
    })
  }
  expect((await typesOf(one.id)).filter((type) => type === 'order.paid')).toHaveLength(1)
})

it('an Idempotency-Key replays the answer, and another body with it is a conflict (OP-08)', async () => {
  const caller = aCaller()
  const { id } = await placedOrder(caller)
  const key = { 'idempotency-key': 'k1' }
  const first = await pay(caller, id, {}, key)
  expect(await pay(caller, id, {}, key)).toMatchObject({ status: 201, body: first.body })
  expect(await pay(caller, id, { reference: 'p2' }, key)).toMatchObject({ status: 409 })
  expect(await admin`select from payment where order_id = ${id}`).toHaveLength(1)
})

it('a full payment of an order at CART places it (OP-47)', async () => {
  const caller = aCaller()
  const variant = await catalog.addVariant(caller, { stock: 3 })
  const { id } = await createOrder(caller, { items: [{ variant: variant.id, quantity: 2 }] })
  await pay(caller, id, { amount: 1999, reference: 'part' })
  expect(await read(caller, id)).toMatchObject({ status: 'CART', payment_status: 'PARTIALLY_PAID' })
  expect((await pay(caller, id)).status).toBe(201)
  expect(await read(caller, id)).toMatchObject({ status: 'PLACED', payment_status: 'PAID' })
  expect(await catalog.stockOf(variant.id)).toBe(1)
  expect(await recordsOf(id)).toMatchObject([
    { type: 'order.created' },
    { type: 'order.updated', data: { payment_status: 'PARTIALLY_PAID' } },
    { type: 'order.updated', data: { status: 'CART', payment_status: 'PAID' } },
    { type: 'order.paid' },
    { type: 'invoice.paid' },
    { type: 'order.updated', data: { status: 'PLACED', payment_status: 'PAID' } },
  ])
  expect(await invoicesOf(caller, id)).toMatchObject([{ number: '1', status: 'PAID' }])
})

it('a payment is recorded when the stock is short or catalog is away; the order stays at CART, PAID (OP-47)', async () => {
  const caller = aCaller()
  const variant = await catalog.addVariant(caller, { stock: 1 })
  const short = await createOrder(caller, { items: [{ variant: variant.id, quantity: 2 }] })
  const away = await createOrder(caller)
  expect((await pay(caller, short.id)).status).toBe(201)
  const payment = { amount: 2000, currency: 'EUR', reference: 'p1' }
  expect((await sendWithoutCatalog(caller, 'POST', `/v1/orders/${away.id}/payments`, payment)).status).toBe(201)
  for (const { id } of [short, away]) {
    expect(await read(caller, id)).toMatchObject({ status: 'CART', payment_status: 'PAID' })
    expect((await typesOf(id)).slice(1)).toEqual(['order.updated', 'order.paid', 'invoice.paid'])
  }
  expect(await catalog.stockOf(variant.id)).toBe(1)
  // The merchant resolves it, without a second order.paid.
  await catalog.send(caller, 'PUT', `/v1/products/${variant.product}`, { stock: 2 })
  await send(caller, 'PUT', `/v1/orders/${short.id}`, { status: 'PLACED' })
  expect((await typesOf(short.id)).slice(4)).toEqual(['order.updated'])
  expect(await invoicesOf(caller, short.id)).toHaveLength(1)
})

it('a payment with nothing open is recorded and changes nothing but the sum (OP-47)', async () => {
  const caller = aCaller()
  const variant = await catalog.addVariant(caller, { price: { EUR: 0 } })
  const order = await createOrder(caller, { items: [{ variant: variant.id, quantity: 1 }], status: 'PLACED' })
  const before = await typesOf(order.id)
  expect((await pay(caller, order.id, { amount: 5 })).status).toBe(201)
  expect(await typesOf(order.id)).toEqual(before)
  expect(await admin`select paid::float8 from sales_order where id = ${order.id}`).toEqual([{ paid: 5 }])
})

it('the sum of the payments stays exact up to 2^53−1; a payment beyond it is unprocessable (OP-07, OP-142)', async () => {
  const caller = aCaller()
  const { id } = await placedOrder(caller)
  expect((await pay(caller, id, { amount: Number.MAX_SAFE_INTEGER })).status).toBe(201)
  const beyond = await pay<ErrorBody>(caller, id, { amount: 1, reference: 'p2' })
  expect(beyond).toMatchObject({ status: 422, body: { error: { code: 'unprocessable' } } })
  expect(beyond.body.error.message).toContain('amount: makes a sum of payments above 9007199254740991')
  expect(await admin`select paid::text from sales_order where id = ${id}`).toEqual([{ paid: '9007199254740991' }])
  expect(await admin`select from payment where order_id = ${id}`).toHaveLength(1)
})

const LONG = 'x'.repeat(256)
const DEEP = `{"amount":1,"currency":"EUR","reference":"r","metadata":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`

it.each([
  [{ amount: 0 }, 422, 'amount: must be above 0'],
  [{ amount: -1 }, 422, 'amount: must be above 0'],
  [{ currency: 'USD' }, 422, 'currency: must be that of the order, which is EUR'],
  [{ amount: 1.5 }, 400, 'amount'],
  [{ amount: '2000' }, 400, 'amount'],
  [{ amount: null }, 400, 'amount'],
  [{ amount: 2 ** 53 }, 400, 'amount'],
  [{ currency: 'eur' }, 400, 'currency'],
  [{ currency: undefined }, 400, 'currency'],
  [{ reference: '' }, 400, 'reference'],
  [{ reference: ' ' }, 400, 'reference'],
  [{ reference: null }, 400, 'reference'],
  [{ reference: LONG }, 400, 'reference'],
  [{ reference: 'a\0b' }, 400, 'reference'],
  [{ provider: LONG }, 400, 'provider'],
  [{ metadata: [] }, 400, 'metadata'],
  [{ metadata: 'card' }, 400, 'metadata'],
  [{ metadata: { charge: 2 ** 53 } }, 400, 'metadata.charge: must be at most 9007199254740991'],
  [{ metadata: { text: 'x'.repeat(16_384) } }, 400, 'metadata: must be at most 16384 characters of JSON'],
  [{ status: 'PAID' }, 400, 'status: unknown member'],
])('refuses %j', async (members, status, message) => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  const answer = await pay<ErrorBody>(caller, id, members)
  expect(answer).toMatchObject({ status, body: { error: { code: status === 422 ? 'unprocessable' : 'bad_request' } } })
  expect(answer.body.error.message).toContain(message)
  expect(await typesOf(id)).toEqual(['order.created'])
  expect(await admin`select from payment where order_id = ${id}`).toHaveLength(0)
})

it('takes metadata of as many characters as are allowed, whatever units they have (OP-07)', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  const metadata = { text: '😀'.repeat(16_384 - '{"text":""}'.length) }
  expect(await pay(caller, id, { metadata })).toMatchObject({ status: 201, body: { metadata } })
  const { status } = await pay(caller, id, { metadata: { text: `${metadata.text}.` }, reference: 'other' })
  expect(status).toBe(400)
})

it('refuses metadata that nests too deep, and a body above 1 MiB (OP-07)', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  const path = `/v1/orders/${id}/payments`
  expect((await send(caller, 'POST', path, DEEP)).status).toBe(400)
  const large = { amount: 1, currency: 'EUR', reference: 'r', metadata: { text: 'x'.repeat(1024 * 1024) } }
  expect(await send(caller, 'POST', path, large)).toMatchObject({
    status: 413,
    body: { error: { code: 'payload_too_large' } },
  })
})

it("another workspace's order is not found, and another scope is refused (OP-04)", async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  await pay(caller, id, { amount: 1 })
  expect(await pay(aCaller(), id)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
  expect(await send(aCaller(), 'GET', `/v1/orders/${id}/payments`)).toMatchObject({ status: 404 })
  expect(await send(caller, 'GET', '/v1/orders/none/payments')).toMatchObject({ status: 400 })
  const reader = aCaller({ ...caller, scopes: ['sale::read'] })
  expect((await pay(reader, id)).status).toBe(403)
  expect((await send(reader, 'GET', `/v1/orders/${id}/payments`)).status).toBe(200)
})

it('takes the same number of statements for an order of any size', async () => {
  const caller = aCaller()
  const variants = await Promise.all(Array.from({ length: 20 }, () => catalog.addVariant(caller)))
  for (const count of [1, 20]) {
    const items = variants.slice(0, count).map(({ id }) => ({ variant: id, quantity: 1 }))
    const { id, total_price } = await createOrder(caller, { items, status: 'PLACED' })
    takeStatements()
    await pay(caller, id, { amount: 1, reference: 'first' })
    expect(takeStatements()).toHaveLength(8)
    await pay(caller, id, { amount: 1, reference: 'second' })
    expect(takeStatements()).toHaveLength(7)
    await pay(caller, id, { amount: total_price, reference: 'rest' })
    expect(takeStatements()).toHaveLength(9)
    await pay(caller, id, { amount: 1, reference: 'first' })
    expect(takeStatements()).toHaveLength(7)
    await send(caller, 'GET', `/v1/orders/${id}/payments`)
    expect(takeStatements()).toHaveLength(6)
  }
})

describeWalks('the payments of an order', {
  send,
  async list() {
    const [caller, other] = [aCaller(), aCaller()]
    const [order, foreign] = [await createOrder(caller), await createOrder(other)]
    const insert = (at: Caller, { id }: Order) => pay(at, id, { reference: crypto.randomUUID(), amount: 1 })
    for (let n = 0; n < 10; n++) await insert(caller, order)
    return {
      caller,
      path: `/v1/orders/${order.id}/payments`,
      foreign: (await insert(other, foreign)).body.id,
      insert: () => insert(caller, order),
      change: async () => undefined, // Payments never change.
    }
  },
})
