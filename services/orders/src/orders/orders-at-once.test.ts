import type { Order, OrderStatus, Payment } from '@backoffice/contracts/order.ts'
import { aCaller, type Caller, testSigner } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { CatalogClient } from '../catalog/catalog-client.ts'
import { ordersService } from '../testing/orders-api.ts'
import { PATIENT } from '../testing/test-catalog.ts'
import { isLegalTransition } from './order-states.ts'

const { admin, send, catalog, createOrder, recordsOf, replica } = await ordersService()

const times = <Result>(count: number, work: (index: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))

const put = (caller: Caller, id: string, body: unknown) => send<Order>(caller, 'PUT', `/v1/orders/${id}`, body)
const pay = (caller: Caller, id: string, members: Record<string, unknown> = {}, headers?: Record<string, string>) =>
  send<Payment>(
    caller,
    'POST',
    `/v1/orders/${id}/payments`,
    { amount: 2000, currency: 'EUR', reference: 'p1', ...members },
    headers,
  )
const fulfil = (caller: Caller, id: string, body?: unknown) =>
  send(caller, 'POST', `/v1/orders/${id}/fulfillments`, body)
const read = async (caller: Caller, id: string) => (await send<Order>(caller, 'GET', `/v1/orders/${id}`)).body
const statusesOf = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).sort((a, b) => a - b)

/** An order of two pieces, 2,000 EUR, and the stock that is left of them. */
async function orderOf(caller: Caller, stock: number, form: Record<string, unknown> = {}) {
  const variant = await catalog.addVariant(caller, { stock })
  const { id } = await createOrder(caller, { items: [{ variant: variant.id, quantity: 2 }], ...form })
  return { id, stock: () => stockAfterReleases(caller, variant.id) }
}

/** The stock once catalog has consumed the released reservations; no relay runs here. */
async function stockAfterReleases(caller: Caller, variant: string) {
  const released = await admin<{ key: string }[]>`
    select key from outbox where workspace_id = ${caller.workspaceId} and type = 'reservation.released'`
  for (const { key } of released) await catalog.send(caller, 'POST', '/internal/stock/release', { order: key })
  return catalog.stockOf(variant)
}

/** Checks that each event is one change by legal transitions, and that the last one is the order as it is. */
async function checkHistory(caller: Caller, id: string): Promise<Order> {
  const order = await read(caller, id)
  const records = await recordsOf(id)
  const states = records
    .filter(({ type }) => type === 'order.created' || type === 'order.updated')
    .map(({ data }) => data as Order)
  expect(states.at(-1)).toEqual(order)
  for (const [index, state] of states.slice(1).entries()) {
    const before = states[index] as Order
    expect(state).not.toEqual(before)
    const [from, to]: OrderStatus[] = [before.status, state.status]
    expect(from === to || (from && to && isLegalTransition(from, to)), `${from} to ${to}`).toBe(true)
  }
  const paid = order.payment_status === 'PAID' ? 1 : 0
  expect(records.filter(({ type }) => type === 'order.paid')).toHaveLength(paid)
  // An order that is paid after its cancellation has no invoice (OP-145).
  const invoices = await admin`select from invoice where order_id = ${id} and status = 'PAID'`
  if (order.status !== 'CANCELLED') expect(invoices).toHaveLength(paid)
  expect(records.filter(({ type }) => type === 'invoice.paid')).toHaveLength(invoices.length)
  return order
}

it('a payment that 20 clients report at once is recorded once, and settles and places its order once (OP-43, OP-47)', async () => {
  const caller = aCaller()
  const { id, stock } = await orderOf(caller, 100)
  const answers = await times(20, () => pay(caller, id))
  expect(statusesOf(answers)).toEqual([...Array(19).fill(200), 201])
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  expect(await checkHistory(caller, id)).toMatchObject({ status: 'PLACED', payment_status: 'PAID' })
  expect(await stock()).toBe(98)
  expect(await admin`select paid::int from sales_order where id = ${id}`).toEqual([{ paid: 2000 }])
})

it('a payment that is sent at once with one Idempotency-Key is recorded once (OP-08)', async () => {
  const caller = aCaller()
  const { id } = await orderOf(caller, 100)
  const answers = await times(8, () => pay(caller, id, {}, { 'idempotency-key': 'k1' }))
  expect(statusesOf(answers)).toEqual(Array(8).fill(201))
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  await checkHistory(caller, id)
})

it('parts that are paid at once add up, and the order is paid once', async () => {
  const caller = aCaller()
  const { id } = await orderOf(caller, 100, { status: 'PLACED' })
  const answers = await times(20, (index) => pay(caller, id, { amount: 150, reference: `part ${index}` }))
  expect(statusesOf(answers)).toEqual(Array(20).fill(201))
  expect(await checkHistory(caller, id)).toMatchObject({ payment_status: 'PAID' })
  expect(await admin`select paid::int from sales_order where id = ${id}`).toEqual([{ paid: 3000 }])
})

it('two clients place one order at once: its stock is taken once (OP-44)', async () => {
  for (const [before, statuses] of [
    [100, [200]],
    [2, [200, 429]], // the second may find the stock short before the first has placed the order
  ] as const) {
    const caller = aCaller()
    const { id, stock } = await orderOf(caller, before)
    const answers = await times(2, () => put(caller, id, { status: 'PLACED' }))
    expect(statusesOf(answers)[0]).toBe(200)
    for (const { status } of answers) expect(statuses).toContain(status)
    expect((await checkHistory(caller, id)).status).toBe('PLACED')
    expect((await recordsOf(id)).map(({ type }) => type)).toEqual(['order.created', 'order.updated'])
    expect(await stock()).toBe(before - 2)
    expect(await admin`select state from reservation where order_id = ${id}`).toEqual([{ state: 'HELD' }])
  }
})

it('placing, paying and cancelling at once end in a legal state, with one event per change (OP-48)', async () => {
  await times(12, async () => {
    const caller = aCaller()
    const { id, stock } = await orderOf(caller, 100)
    const [placed, paid, cancelled] = await Promise.all([
      put(caller, id, { status: 'PLACED', note: 'placed' }),
      pay(caller, id),
      put(caller, id, { status: 'CANCELLED' }),
    ])
    // 503: on a busy machine catalog may not answer in time.
    expect([200, 409, 503]).toContain(placed.status)
    expect([paid.status, cancelled.status]).toEqual([201, 200])
    const order = await checkHistory(caller, id)
    expect(order).toMatchObject({ status: 'CANCELLED', payment_status: 'PAID' })
    expect(order.note).toBe(placed.status === 200 ? 'placed' : null)
    expect(await stock()).toBe(100)
    expect(await admin`select from reservation where order_id = ${id} and state = 'HELD'`).toHaveLength(0)
    expect(await admin`select from invoice where order_id = ${id} and status <> 'PAID'`).toEqual([])
  })
})

/** Sends to the same service, whose takes of stock run `before` and `after` around them. */
function sendAround({ before, after }: { before?: () => Promise<unknown>; after?: () => Promise<unknown> }) {
  const client = new CatalogClient(catalog.url, testSigner(), PATIENT)
  const takeStock = client.takeStock.bind(client)
  client.takeStock = async (...take) => {
    await before?.()
    await takeStock(...take)
    await after?.()
  }
  return replica(client)
}

it('an order that is cancelled while its stock is taken stays cancelled, and its stock is released (OP-44)', async () => {
  const caller = aCaller()
  const [one, other] = [await orderOf(caller, 5), await orderOf(caller, 5)]
  const cancel = ({ id }: { id: string }) => put(caller, id, { status: 'CANCELLED' })
  const placing = sendAround({ after: () => cancel(one) })
  expect(await placing(caller, 'PUT', `/v1/orders/${one.id}`, { status: 'PLACED', note: 'x' })).toMatchObject({
    status: 409,
    body: { error: { message: 'status: an order cannot go from CANCELLED to PLACED; CANCELLED is final' } },
  })
  const paying = sendAround({ after: () => cancel(other) })
  const payment = { amount: 2000, currency: 'EUR', reference: 'p1' }
  expect(await paying(caller, 'POST', `/v1/orders/${other.id}/payments`, payment)).toMatchObject({ status: 201 })
  for (const { id, stock } of [one, other]) {
    expect(await checkHistory(caller, id)).toMatchObject({ status: 'CANCELLED', note: null })
    expect(await stock()).toBe(5)
    expect(await admin`select from reservation where order_id = ${id}`).toHaveLength(0)
  }
})

it('an order that another client places while its stock is taken, or looked for, is placed once (OP-44)', async () => {
  for (const [stockBefore, when] of [
    [5, 'after'],
    [5, 'before'],
    [2, 'before'], // then the stock is short, but for this very order
  ] as const) {
    const caller = aCaller()
    const { id, stock } = await orderOf(caller, stockBefore)
    const placing = sendAround({ [when]: () => put(caller, id, { status: 'PLACED' }) })
    const answer = await placing<Order>(caller, 'PUT', `/v1/orders/${id}`, { status: 'PLACED', note: 'x' })
    expect(answer).toMatchObject({ status: 200, body: { status: 'PLACED', note: 'x' } })
    await checkHistory(caller, id)
    expect((await recordsOf(id)).map(({ type }) => type)).toEqual(['order.created', 'order.updated', 'order.updated'])
    expect(await stock()).toBe(stockBefore - 2)
    expect(await admin`select state from reservation where order_id = ${id}`).toEqual([{ state: 'HELD' }])
  }
})

const underWay = {
  status: 429,
  headers: { 'retry-after': '1' },
  body: { error: { code: 'rate_limited', message: 'Another request is placing this order; try again' } },
}

it('an order that another client places at this moment is not short of its own stock (OP-44)', async () => {
  const caller = aCaller()
  const { id, stock } = await orderOf(caller, 2)
  const placing = sendAround({
    after: async () => expect(await put(caller, id, { status: 'PLACED' })).toMatchObject(underWay),
  })
  expect(await placing(caller, 'PUT', `/v1/orders/${id}`, { status: 'PLACED' })).toMatchObject({ status: 200 })
  expect((await put(caller, id, { status: 'PLACED' })).status).toBe(200)
  expect(await stock()).toBe(0)
})

it('a form that is sent again while it is being placed is not short of its own stock (OP-08)', async () => {
  const caller = aCaller()
  const { id: variant } = await catalog.addVariant(caller, { stock: 1 })
  const form = { currency: 'EUR', items: [{ variant, quantity: 1 }], status: 'PLACED' }
  const post = (by: typeof send, key: string) =>
    by<Order>(caller, 'POST', '/v1/orders', form, { 'idempotency-key': key })
  const placing = sendAround({
    after: async () => {
      expect(await post(send, 'k1')).toMatchObject(underWay)
      expect(await post(send, 'k2')).toMatchObject({ status: 409, headers: { 'error-reason': 'short_stock' } })
    },
  })
  const first = await post(placing, 'k1')
  expect(first.status).toBe(201)
  expect(await post(send, 'k1')).toMatchObject({ status: 201, body: { id: first.body.id } })
})

it('two fulfilments at once never exceed the quantity (OP-48)', async () => {
  const caller = aCaller()
  const variant = await catalog.addVariant(caller)
  const form = { items: [{ variant: variant.id, quantity: 7 }], status: 'PLACED' }
  const one = await createOrder(caller, form)
  const items = [{ id: one.items[0]?.id, quantity: 1 }]
  expect(statusesOf(await times(10, () => fulfil(caller, one.id, { items })))).toEqual([
    ...Array(7).fill(201),
    ...Array(3).fill(422),
  ])
  const other = await createOrder(caller, form)
  expect(statusesOf(await times(2, () => fulfil(caller, other.id)))).toEqual([201, 409])
  for (const { id } of [one, other]) {
    expect(await checkHistory(caller, id)).toMatchObject({ fulfillment_status: 'FULFILLED' })
    expect(await admin`select fulfilled::int from order_item where order_id = ${id}`).toEqual([{ fulfilled: 7 }])
  }
})

it('of a fulfilment and a cancellation at once, one succeeds (OP-48, OP-143)', async () => {
  await times(12, async () => {
    const caller = aCaller()
    const { id, stock } = await orderOf(caller, 100, { status: 'PLACED' })
    const answers = await Promise.all([fulfil(caller, id), put(caller, id, { status: 'CANCELLED' })])
    const order = await checkHistory(caller, id)
    if (answers[0].status === 201) {
      expect(answers[1].status).toBe(409)
      expect(order).toMatchObject({ status: 'PLACED', fulfillment_status: 'FULFILLED' })
      expect(await stock()).toBe(98)
    } else {
      expect(statusesOf(answers)).toEqual([200, 409])
      expect(order).toMatchObject({ status: 'CANCELLED', fulfillment_status: 'UNFULFILLED' })
      expect(await stock()).toBe(100)
    }
  })
})

it('a note and a promise date that are changed at once are both kept (OP-79)', async () => {
  const caller = aCaller()
  const { id } = await orderOf(caller, 100)
  await Promise.all([put(caller, id, { note: 'fragile' }), put(caller, id, { promise_date: '2026-03-01' })])
  expect(await checkHistory(caller, id)).toMatchObject({ note: 'fragile', promise_date: '2026-03-01' })
  expect(await recordsOf(id)).toHaveLength(3)
})
