import type { Cancellation } from '@backoffice/contracts/order.ts'
import { aCaller, type Caller, testSigner } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, it } from 'vitest'
import { CatalogClient } from '../catalog/catalog-client.ts'
import { orderActs } from '../testing/order-acts.ts'
import { ordersService } from '../testing/orders-api.ts'
import { PATIENT } from '../testing/test-catalog.ts'

const service = await ordersService()
const { admin, send, catalog, createOrder, recordsOf, takeStatements, replica } = service
const { put, read, pay, fulfil, cancel, deliver, findings } = orderActs(service)

/** A placed order of quantities of new variants at 1,000 EUR, of which there are 100 each. */
async function placedOrder(caller: Caller, quantities: readonly number[], form: Record<string, unknown> = {}) {
  const variants = await Promise.all(quantities.map(() => catalog.addVariant(caller)))
  const items = quantities.map((quantity, index) => ({ variant: variants[index]?.id, quantity }))
  const order = await createOrder(caller, { items, status: 'PLACED', ...form })
  return {
    id: order.id,
    lines: order.items.map(({ id }) => id),
    stocks: () => Promise.all(variants.map(({ id }) => catalog.stockOf(id))),
  }
}

it('open quantities are given up: stock returns, totals follow, the invoice stays as issued (OP-209)', async () => {
  const caller = aCaller()
  const form = { total_shipping: 500, total_tax: 303, total_discount: 100 }
  const { id, lines, stocks } = await placedOrder(caller, [3, 2], form)
  const [shirt, cap] = lines
  await fulfil(caller, id, [shirt, 1])
  const { status, body } = await cancel(
    caller,
    id,
    [
      [shirt, 1],
      [cap, 2],
    ],
    { reference: 'c1' },
  )
  expect([status, body]).toMatchObject([
    201,
    {
      order: id,
      items: [
        { id: shirt, quantity: 1 },
        { id: cap, quantity: 2 },
      ],
      reference: 'c1',
    },
  ])
  expect(await stocks()).toEqual([98, 100])
  const order = await read(caller, id)
  // Two of five are left of the subtotal: the tax is 121.2, rounded down.
  expect(order).toMatchObject({
    ...{ status: 'PLACED', fulfillment_status: 'PARTIALLY_FULFILLED', total_items: 2, subtotal_price: 2000 },
    ...{ total_shipping: 500, total_tax: 121, total_discount: 40, total_price: 2581 },
    items: [
      { id: shirt, quantity: 2, total_price: 2000 },
      { id: cap, quantity: 0, total_price: 0 },
    ],
  })
  expect((await recordsOf(id)).at(-1)).toMatchObject({ type: 'order.updated', data: order })
  expect(await admin`select total::int from invoice where order_id = ${id}`).toEqual([{ total: 5703 }])
  expect((await send<{ items: Cancellation[] }>(caller, 'GET', `/v1/orders/${id}/cancellations`)).body.items).toEqual([
    body,
  ])
  await deliver(caller)
  expect(await stocks()).toEqual([98, 100])
  expect(await findings(caller)).toEqual([])
})

it('all that is open, where no items are sent, leaves a partly fulfilled order FULFILLED', async () => {
  const caller = aCaller()
  const { id, lines, stocks } = await placedOrder(caller, [3, 2])
  await fulfil(caller, id, [lines[0], 1])
  expect((await cancel(caller, id)).body.items.map(({ quantity }) => quantity)).toEqual([2, 2])
  expect(await read(caller, id)).toMatchObject({ status: 'PLACED', fulfillment_status: 'FULFILLED', total_price: 1000 })
  expect(await stocks()).toEqual([99, 100])
  expect(await cancel(caller, id)).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
  expect(await fulfil(caller, id)).toMatchObject({ status: 409 })
  await deliver(caller)
  expect(await findings(caller)).toEqual([])
})

it('an order of which nothing is fulfilled and nothing would be left is CANCELLED as it stands', async () => {
  const caller = aCaller()
  const { id, lines, stocks } = await placedOrder(caller, [3, 2])
  await cancel(caller, id, [[lines[0], 3]])
  await cancel(caller, id, [[lines[1], 2]])
  expect(await read(caller, id)).toMatchObject({ status: 'CANCELLED', total_price: 2000, total_items: 2 })
  await deliver(caller)
  expect(await stocks()).toEqual([100, 100])
  expect(await findings(caller)).toEqual([])
})

it('an order whose open quantity was cut can be cancelled, and its stock comes back once', async () => {
  const caller = aCaller()
  const { id, lines, stocks } = await placedOrder(caller, [5])
  await cancel(caller, id, [[lines[0], 2]])
  expect((await put(caller, id, { status: 'CANCELLED' })).status).toBe(200)
  await deliver(caller)
  expect(await stocks()).toEqual([100])
})

it.each(['cancellations', 'returns'])(
  '%s of one Idempotency-Key give the stock back once, also when the first one has to run again (OP-08)',
  async (what) => {
    const caller = aCaller()
    const { id, lines, stocks } = await placedOrder(caller, [3])
    if (what === 'returns') await fulfil(caller, id)
    const items = [{ id: lines[0], quantity: 1, ...(what === 'returns' && { restock: true }) }]
    const body = { items, ...(what === 'returns' && { reference: 'r1' }) }
    await admin`create sequence clash`
    await admin.unsafe(`
    create function clash() returns trigger security definer language plpgsql as $$
    begin
      if nextval('clash') = 1 then raise serialization_failure; end if;
      return new;
    end
    $$;
    create trigger clash before update on sales_order for each row execute function clash()`)
    const once = () => send(caller, 'POST', `/v1/orders/${id}/${what}`, body, { 'idempotency-key': 'k1' })
    const { sent } = await admin.begin(async (tx) => {
      await tx`select from sales_order where id = ${id} for update`
      const sent = [once(), once()]
      await eventually('one waits for the order, and the other for the key', async () => {
        const waiting = await admin`
        select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
        return waiting.length === 2
      })
      return { sent }
    })
    const [one, other] = await Promise.all(sent)
    await admin`drop function clash cascade`
    await admin`drop sequence clash`
    expect([one?.status, other?.body]).toEqual([201, one?.body])
    await deliver(caller)
    expect(await stocks()).toEqual([98])
    expect(await findings(caller)).toEqual([])
  },
)

it('what a COMPLETED order never sent can be given up', async () => {
  const caller = aCaller()
  const { id, stocks } = await placedOrder(caller, [2])
  await put(caller, id, { status: 'COMPLETED' })
  expect((await findings(caller)).map(({ finding }) => finding)).toEqual(['completed order with unsent items'])
  await cancel(caller, id)
  expect(await read(caller, id)).toMatchObject({ status: 'COMPLETED', total_items: 0, total_price: 0 })
  expect(await stocks()).toEqual([100])
  expect(await findings(caller)).toEqual([])
})

it('an order whose total falls to what was paid is PAID, with its events', async () => {
  const caller = aCaller()
  const { id, lines } = await placedOrder(caller, [3])
  await pay(caller, id, 1000)
  await cancel(caller, id, [[lines[0], 2]])
  expect(await read(caller, id)).toMatchObject({ payment_status: 'PAID', total_price: 1000 })
  const records = await recordsOf(id)
  expect(records.slice(-3).map(({ type }) => type)).toEqual(['order.updated', 'order.paid', 'invoice.paid'])
  // The invoice's total, as it was issued (OP-45).
  expect(records.at(-1)?.data).toMatchObject({ total: 3000 })
  await deliver(caller)
  expect(await findings(caller)).toEqual([])
})

it('a paid order at CART whose stock is short loses the short quantity, and is placed (OP-47)', async () => {
  const caller = aCaller()
  const [shirt, cap] = [await catalog.addVariant(caller, { stock: 0 }), await catalog.addVariant(caller)]
  const items = [shirt, cap].map(({ id }) => ({ variant: id, quantity: 1 }))
  const order = await createOrder(caller, { items })
  expect((await cancel(caller, order.id)).body.error.message).toContain('before it has an invoice')
  await pay(caller, order.id, 2000)
  expect(await read(caller, order.id)).toMatchObject({ status: 'CART', payment_status: 'PAID' })
  expect((await cancel(caller, order.id, [[order.items[0]?.id, 1]])).status).toBe(201)
  expect(await read(caller, order.id)).toMatchObject({ status: 'PLACED', total_price: 1000, items: [{ sku: cap.sku }] })
  expect(await catalog.stockOf(cap.id)).toBe(99)
  await deliver(caller)
  expect(await findings(caller)).toEqual([])
})

it('an order at CART that is refunded while what is left of it is placed is not placed (OP-204)', async () => {
  const caller = aCaller()
  const variant = await catalog.addVariant(caller)
  const order = await createOrder(caller, { items: [{ variant: variant.id, quantity: 2 }] })
  await send(caller, 'POST', `/v1/orders/${order.id}/invoices`)
  await pay(caller, order.id, 1000)
  const client = new CatalogClient(catalog.url, testSigner(), PATIENT)
  const takeStock = client.takeStock.bind(client)
  client.takeStock = async (...take) => {
    const refund = { amount: 1000, currency: 'EUR', reference: 'r1' }
    expect((await send(caller, 'POST', `/v1/orders/${order.id}/refunds`, refund)).status).toBe(201)
    return takeStock(...take)
  }
  const body = { items: [{ id: order.items[0]?.id, quantity: 1 }] }
  expect((await replica(client)(caller, 'POST', `/v1/orders/${order.id}/cancellations`, body)).status).toBe(201)
  expect(await read(caller, order.id)).toMatchObject({ status: 'CART', payment_status: 'REFUNDED', total_price: 1000 })
  await deliver(caller)
  expect(await catalog.stockOf(variant.id)).toBe(100)
  expect(await findings(caller)).toEqual([])
})

it('a repeated reference answers the cancellation that is there; other quantities are a conflict', async () => {
  const caller = aCaller()
  const { id, lines, stocks } = await placedOrder(caller, [9])
  const once = () => cancel(caller, id, [[lines[0], 2]], { reference: 'c1' })
  const answers = await Promise.all(Array.from({ length: 8 }, once))
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(7).fill(200), 201])
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  expect(await cancel(caller, id, undefined, { reference: 'c1' })).toMatchObject({ status: 200 })
  const other = await cancel(caller, id, [[lines[0], 3]], { reference: 'c1' })
  expect([other.status, other.body.error.message]).toEqual([409, expect.stringContaining('reference: "c1"')])
  await deliver(caller)
  expect(await stocks()).toEqual([93])
})

it('cancellations and fulfilments at once never exceed the quantity', async () => {
  const caller = aCaller()
  const { id, lines, stocks } = await placedOrder(caller, [7])
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      (n % 2 ? fulfil : (...[c, i, q]: [Caller, string, [string | undefined, number]]) => cancel(c, i, [q]))(
        caller,
        id,
        [lines[0], 1],
      ),
    ),
  )
  const done = (parity: number) => answers.filter(({ status }, n) => n % 2 === parity && status === 201).length
  expect(done(0) + done(1)).toBe(7)
  expect(await read(caller, id)).toMatchObject({ fulfillment_status: 'FULFILLED', total_items: done(1) })
  await deliver(caller)
  expect(await stocks()).toEqual([100 - done(1)])
  expect(await findings(caller)).toEqual([])
})

it('without catalog the stock returns later, by the record (OP-212)', async () => {
  const caller = aCaller()
  const { id, lines, stocks } = await placedOrder(caller, [3])
  const withoutCatalog = replica(new CatalogClient('http://127.0.0.1:1', testSigner()))
  const body = { items: [{ id: lines[0], quantity: 1 }] }
  expect((await withoutCatalog(caller, 'POST', `/v1/orders/${id}/cancellations`, body)).status).toBe(201)
  expect(await stocks()).toEqual([97])
  await deliver(caller)
  expect(await stocks()).toEqual([98])
})

it('more than is open, and an unknown item, are unprocessable; CANCELLED is a conflict; nothing changes', async () => {
  const caller = aCaller()
  const { id, lines } = await placedOrder(caller, [3])
  await fulfil(caller, id, [lines[0], 1])
  for (const [item, quantity, message] of [
    [lines[0], 3, 'items[0].quantity: only 2 of this item is left to cancel; send 2 at most'],
    [crypto.randomUUID(), 1, 'items[0].id: the order has no item'],
  ] as const) {
    const answer = await cancel(caller, id, [[item, quantity]])
    expect([answer.status, answer.body.error.message]).toEqual([422, expect.stringContaining(message)])
  }
  expect(await admin`select from cancellation where order_id = ${id}`).toHaveLength(0)
  const other = await placedOrder(caller, [1])
  await put(caller, other.id, { status: 'CANCELLED' })
  expect((await cancel(caller, other.id)).status).toBe(409)
})

it("another workspace's order is not found, and another scope is refused (OP-04)", async () => {
  const caller = aCaller()
  const { id } = await placedOrder(caller, [1])
  expect((await cancel(aCaller(), id)).status).toBe(404)
  expect((await send(aCaller(), 'GET', `/v1/orders/${id}/cancellations`)).status).toBe(404)
  expect((await cancel(aCaller({ ...caller, scopes: ['sale::read'] }), id)).status).toBe(403)
})

it('the number of statements does not depend on the number of lines', async () => {
  const caller = aCaller()
  const counts: number[] = []
  for (const count of [1, 20]) {
    const { id, lines } = await placedOrder(
      caller,
      Array.from({ length: count }, () => 2),
    )
    takeStatements()
    expect(
      (
        await cancel(
          caller,
          id,
          lines.map((line) => [line, 1]),
        )
      ).status,
    ).toBe(201)
    counts.push(takeStatements().length)
  }
  expect(counts[0]).toBe(counts[1])
})
