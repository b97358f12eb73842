import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import type { Buyer, Invoice, Order } from '@backoffice/contracts/order.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { describe, expect, it } from 'vitest'
import { ordersService } from '../testing/orders-api.ts'
import { eraseBatch } from './erase-customers.ts'

const { admin, createOrder, db, send, takeStatements } = await ordersService()

const ADA = { firstname: 'Ada', lastname: 'Byron', email: 'ada@example.com' }
const ADDRESS = { street: '1 Main Street' }

const anOrder = (caller: Caller, form: object = {}) =>
  createOrder(caller, { customer: ADA, shipping_address: ADDRESS, ...form })
const post = <Body = unknown>(caller: Caller, { id }: Order, what: string, body?: unknown) =>
  send<Body>(caller, 'POST', `/v1/orders/${id}/${what}`, body)
const pay = (caller: Caller, order: Order, amount = order.total_price) =>
  post(caller, order, 'payments', { amount, currency: 'EUR', reference: crypto.randomUUID() })
const move = (caller: Caller, { id }: Order, status: string) => send(caller, 'PUT', `/v1/orders/${id}`, { status })
const customerIn = ({ customer }: Order) => customer?.id ?? expect.fail('it has no customer')
const erase = (caller: Caller, order: Order, query = '') =>
  send<ErrorBody | undefined>(caller, 'DELETE', `/v1/customers/${customerIn(order)}${query}`)
const buyerOf = <Body = Buyer>(caller: Caller, { id }: Order) => send<Body>(caller, 'GET', `/v1/orders/${id}/buyer`)
const erasureOf = (caller: Caller, order: Order) => send(caller, 'GET', `/v1/customers/${customerIn(order)}/erasure`)
async function finish({ workspaceId, livemode }: Caller) {
  while (await db.inWorkspace({ workspaceId, livemode, traceparent: '' }, (tx) => eraseBatch(tx, new Date())));
}

describe('a customer who waits for what he has paid (OP-216)', () => {
  it('is not erased: conflict names the orders, and force=true erases him', async () => {
    const caller = aCaller()
    const [paid, part] = [await anOrder(caller), await anOrder(caller)]
    await pay(caller, paid)
    await pay(caller, part, 1)
    const { status, body } = await erase(caller, paid)
    expect([status, body?.error.code, body?.error.message]).toEqual([
      409,
      'conflict',
      'id: the customer has paid for 2 orders that are not shipped ' +
        `(${paid.order_number}, ${part.order_number}); fulfil, complete or cancel them before, or send force=true`,
    ])
    expect((await send(caller, 'GET', `/v1/customers/${customerIn(paid)}`)).status).toBe(200)
    expect((await erase(caller, paid, '?force=maybe')).status).toBe(400)
    expect((await erase(caller, paid, '?force=true')).status).toBe(204)
  })

  it('is erased once each order is fulfilled, completed, cancelled or has no payment', async () => {
    const caller = aCaller()
    const orders = await Promise.all(['fulfil', 'complete', 'cancel', 'unpaid'].map(() => anOrder(caller)))
    const [fulfilled, completed, cancelled] = orders as [Order, Order, Order]
    for (const order of [fulfilled, completed]) await pay(caller, order)
    await pay(caller, cancelled, 1)
    expect((await erase(caller, fulfilled)).body?.error.message).toContain('3 orders')
    await post(caller, fulfilled, 'fulfillments')
    await move(caller, completed, 'COMPLETED')
    expect((await erase(caller, fulfilled)).body?.error.message).toContain(`1 order that`)
    await move(caller, cancelled, 'CANCELLED')
    expect((await erase(caller, fulfilled)).status).toBe(204)
  })

  it('is erased once all goods of his order came back', async () => {
    const caller = aCaller()
    const order = await anOrder(caller)
    await pay(caller, order)
    await post(caller, order, 'fulfillments')
    const items = order.items.map(({ id, quantity }) => ({ id, quantity, restock: true }))
    expect((await post(caller, order, 'returns', { items, reference: 'RET-1' })).status).toBe(201)
    expect((await send<Order>(caller, 'GET', `/v1/orders/${order.id}`)).body).toMatchObject({
      status: 'PLACED',
      payment_status: 'PAID',
      total_items: 0,
    })
    expect((await erase(caller, order)).status).toBe(204)
  })

  it('is refused for an order that had him and has no customer now, not for that of another one (OP-208)', async () => {
    const caller = aCaller()
    const orders = [await anOrder(caller), await anOrder(caller)] as const
    const [without, ofAnother] = orders
    const change = ({ id }: Order, customer: object | null) =>
      send(caller, 'PUT', `/v1/orders/${id}/cart`, { customer })
    await change(without, null)
    await change(ofAnother, { firstname: 'Bob' })
    for (const order of orders) await pay(caller, order, 1)
    expect((await erase(caller, without)).body?.error.message).toContain(
      `1 order that is not shipped (${without.order_number})`,
    )
    await move(caller, without, 'CANCELLED')
    expect((await erase(caller, without)).status).toBe(204)
  })

  it('is refused with five of his orders by name, in as many statements as for one', async () => {
    const caller = aCaller()
    const statements: number[] = []
    for (let count = 1; count <= 7; count++) {
      const order = await anOrder(caller)
      await pay(caller, order, 1)
      takeStatements()
      const { body } = await erase(caller, order)
      statements.push(takeStatements().length)
      expect(body?.error.message.includes(' and others)')).toBe(count > 5)
    }
    expect(new Set(statements).size).toBe(1)
  })

  it('is refused for a payment that is recorded while he is erased', async () => {
    const caller = aCaller()
    const order = await anOrder(caller)
    let erased: ReturnType<typeof erase> | undefined
    await admin.begin(async (tx) => {
      await tx`update sales_order set paid = total_price, payment_status = 'PAID' where id = ${order.id}`
      erased = erase(caller, order)
      await eventually('the erasure waits', async () => {
        const waiting = await admin`
          select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
        return waiting.length === 1
      })
    })
    expect((await erased)?.status).toBe(409)
  })

  it('and pays at the moment of his erasure is refused, or pays as nobody', async () => {
    const caller = aCaller()
    for (let round = 0; round < 10; round++) {
      const order = await anOrder(caller)
      const [{ status }] = await Promise.all([erase(caller, order), pay(caller, order)])
      const { body } = await send<Order>(caller, 'GET', `/v1/orders/${order.id}`)
      expect([status, body.payment_status, body.customer?.name]).toEqual(
        status === 204 ? [204, 'PAID', undefined] : [409, 'PAID', 'Ada Byron'],
      )
      await erase(caller, order, '?force=true')
    }
  })
})

describe('the buyer on an invoice (OP-217)', () => {
  it('is that of the moment when it was issued, whatever changes, and stays when the customer is erased', async () => {
    const caller = aCaller()
    const order = await anOrder(caller)
    const { body: invoice } = await post<Invoice>(caller, order, 'invoices')
    const buyer = { order: order.id, invoice: invoice.id, name: 'Ada Byron', email: ADA.email, address: ADDRESS }
    expect(await buyerOf(caller, order)).toMatchObject({ status: 200, body: buyer })
    await send(caller, 'PUT', `/v1/customers/${customerIn(order)}`, { lastname: 'Lovelace' })
    await send(caller, 'PUT', `/v1/orders/${order.id}`, { shipping_address: { street: '2 Main Street' } })
    expect((await buyerOf(caller, order)).body).toEqual(buyer)
    await erase(caller, order)
    await finish(caller)
    expect((await buyerOf(caller, order)).body).toEqual(buyer)
    expect((await send<Order>(caller, 'GET', `/v1/orders/${order.id}`)).body).toMatchObject({
      customer: null,
      shipping_address: null,
    })
  })

  it('of an invoice that the version before has issued is kept by the erasure, as the customer is then', async () => {
    const caller = aCaller()
    const order = await anOrder(caller)
    const { body: invoice } = await post<Invoice>(caller, order, 'invoices')
    await admin`update invoice set buyer = null where order_id = ${order.id}`
    const buyer = { order: order.id, invoice: invoice.id, name: 'Ada Byron', email: ADA.email, address: ADDRESS }
    expect((await buyerOf(caller, order)).body).toEqual(buyer)
    await erase(caller, order)
    await finish(caller)
    expect((await buyerOf(caller, order)).body).toEqual(buyer)
  })

  it('is nobody where the order has no customer; without an invoice, and in another workspace, it is not_found', async () => {
    const caller = aCaller()
    const order = await createOrder(caller)
    expect((await buyerOf<ErrorBody>(caller, order)).body.error.message).toBe(
      'id: the order has no invoice, which would name its buyer; issue it before',
    )
    await post(caller, order, 'invoices')
    expect((await buyerOf(caller, order)).body).toMatchObject({ name: null, email: null, address: null })
    expect((await buyerOf(aCaller(), order)).status).toBe(404)
    expect((await buyerOf(aCaller({ ...caller, scopes: ['sale'] }), order)).status).toBe(403)
  })
})

it('an erasure tells what it keeps: the invoices, with their buyer (OP-218)', async () => {
  const caller = aCaller()
  const orders = [await anOrder(caller), await anOrder(caller), await anOrder(caller)]
  const [order] = orders as [Order]
  for (const one of orders.slice(1)) await post(caller, one, 'invoices')
  expect((await erasureOf(caller, order)).status).toBe(404)
  await erase(caller, order)
  const running = { customer: customerIn(order), state: 'RUNNING', kept_invoices: 0, done_at: null }
  expect((await erasureOf(caller, order)).body).toMatchObject(running)
  await finish(caller)
  expect((await erasureOf(caller, order)).body).toMatchObject({
    customer: customerIn(order),
    state: 'DONE',
    kept_invoices: 2,
    done_at: expect.any(String),
  })
  expect((await erasureOf(aCaller(), order)).status).toBe(404)
})
