import type { Invoice, Order } from '@backoffice/contracts/order.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, it } from 'vitest'
import { ordersService } from '../testing/orders-api.ts'

const { admin, send, createOrder, recordsOf, takeStatements } = await ordersService()

const issue = (caller: Caller, id: string, body?: unknown, headers?: Record<string, string>) =>
  send<Invoice>(caller, 'POST', `/v1/orders/${id}/invoices`, body, headers)
const put = (caller: Caller, id: string, body: unknown) => send<Order>(caller, 'PUT', `/v1/orders/${id}`, body)

it('issues the invoice of an order on request, once, with the next number of the workspace (OP-45)', async () => {
  const caller = aCaller()
  const [one, other] = [await createOrder(caller), await createOrder(caller)]
  const first = await issue(caller, one.id)
  expect(first.status).toBe(201)
  expect(first.body).toEqual({
    id: expect.any(String),
    number: '1',
    order: one.id,
    currency: 'EUR',
    total: one.total_price,
    status: 'ISSUED',
    created_at: expect.any(String),
  })
  expect(await issue(caller, one.id, {})).toMatchObject({ status: 200, body: first.body })
  expect((await put(caller, one.id, { status: 'PLACED' })).status).toBe(200)
  expect(await issue(caller, one.id)).toMatchObject({ status: 200, body: first.body })
  expect((await issue(caller, other.id)).body.number).toBe('2')
  expect((await issue(aCaller(), other.id)).status).toBe(404)
  const stranger = aCaller()
  expect((await issue(stranger, (await createOrder(stranger)).id)).body.number).toBe('1')
  const list = await send(caller, 'GET', `/v1/orders/${one.id}/invoices`)
  expect(list.body).toMatchObject({ total: 1, total_pages: 1, items: [first.body] })
  // An invoice that is issued fires nothing.
  expect((await recordsOf(one.id)).map(({ type }) => type)).toEqual(['order.created', 'order.updated'])
})

it('ids of invoices and credit notes have the order of their numbers: they are drawn under the lock of the counter (OP-205)', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller, { status: 'PLACED' })
  const money = { amount: 2000, currency: 'EUR', reference: '1' }
  await send(caller, 'POST', `/v1/orders/${id}/payments`, money)
  const other = await createOrder(caller)
  const refund = () =>
    send(caller, 'POST', `/v1/orders/${id}/refunds`, { ...money, amount: 1 + n, reference: String(n) })
  let n = 0
  await refund()
  for (const [counter, documents, act] of [
    ['invoice_counter', 'invoices', () => issue(caller, other.id)],
    ['credit_note_counter', 'credit-notes', refund],
  ] as const) {
    n++
    let acted: ReturnType<typeof act> | undefined
    const lockedAt = await admin.begin(async (sql) => {
      await sql`select from ${sql(counter)} where workspace_id = ${caller.workspaceId} for update`
      acted = act()
      await eventually('it waits for the number', async () => {
        const waiting = await admin`
          select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
        return waiting.length === 1
      })
      return (await sql<[{ id: string }]>`select uuidv7() as id`)[0].id
    })
    await acted
    const { body } = await send<{ items: Invoice[] }>(caller, 'GET', `/v1/${documents}`)
    expect(body.items.map(({ number }) => number)).toEqual(['2', '1'])
    expect((body.items[0]?.id ?? '') > lockedAt).toBe(true)
  }
})

it('an invoice that was issued before becomes PAID with its order (OP-45)', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  const { body } = await issue(caller, id)
  await send(caller, 'POST', `/v1/orders/${id}/payments`, { amount: 2000, currency: 'EUR', reference: 'p1' })
  expect(await issue(caller, id)).toMatchObject({ status: 200, body: { ...body, status: 'PAID' } })
  const paid = (await recordsOf(id)).filter(({ type }) => type === 'invoice.paid')
  expect(paid).toEqual([
    {
      topic: 'orders.events',
      type: 'invoice.paid',
      data: { id: body.id, number: '1', order: id, currency: 'EUR', total: 2000 },
    },
  ])
})

it('an order that was cancelled keeps its invoice, which a payment makes PAID; one without gets none (OP-45, OP-145)', async () => {
  const caller = aCaller()
  const [billed, unbilled] = [await createOrder(caller), await createOrder(caller)]
  const { body } = await issue(caller, billed.id)
  for (const { id } of [billed, unbilled]) await put(caller, id, { status: 'CANCELLED' })
  expect(await issue(caller, billed.id)).toMatchObject({ status: 200, body })
  expect(await issue(caller, unbilled.id)).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
  expect((await send(caller, 'GET', `/v1/orders/${unbilled.id}/invoices`)).body).toMatchObject({ total: 0, items: [] })
  expect((await issue(caller, (await createOrder(caller)).id)).body.number).toBe('2')
  expect(body.status).toBe('ISSUED')
  const payment = { amount: 2000, currency: 'EUR', reference: 'p1' }
  await send(caller, 'POST', `/v1/orders/${billed.id}/payments`, payment)
  expect((await issue(caller, billed.id)).body.status).toBe('PAID')
})

it('an Idempotency-Key replays the answer (OP-08)', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  const key = { 'idempotency-key': 'k1' }
  const first = await issue(caller, id, undefined, key)
  expect(await issue(caller, id, undefined, key)).toMatchObject({ status: 201, body: first.body })
})

it('50 invoices requested at once are numbered 1 to 50 (OP-45)', async () => {
  const caller = aCaller()
  const orders = []
  for (let left = 50; left > 0; left--) orders.push(await createOrder(caller))
  const answers = await Promise.all(orders.map(({ id }) => issue(caller, id)))
  expect(answers.map(({ status }) => status)).toEqual(orders.map(() => 201))
  const numbers = answers.map(({ body }) => Number(body.number)).sort((a, b) => a - b)
  expect(numbers).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
})

it('an invoice requested by 20 clients at once is issued once', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  const answers = await Promise.all(Array.from({ length: 20 }, () => issue(caller, id)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  expect((await issue(caller, (await createOrder(caller)).id)).body.number).toBe('2')
})

it('an invoice that fails after its number was taken leaves no gap (OP-45)', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  // As when its connection is lost.
  await admin`
    create function fail_once() returns trigger language plpgsql as $$ begin raise 'lost' using errcode = '57P01'; end $$`
  await admin`create trigger fail_once before insert on invoice for each row execute function fail_once()`
  expect((await issue(caller, id)).status).toBe(503)
  await admin`drop trigger fail_once on invoice`
  expect(await issue(caller, id)).toMatchObject({ status: 201, body: { number: '1' } })
})

it('refuses a body with members, and another scope', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  expect(await issue(caller, id, { total: 5 })).toMatchObject({ status: 400, body: { error: { code: 'bad_request' } } })
  expect((await issue(aCaller({ ...caller, scopes: ['sale::read'] }), id)).status).toBe(403)
  expect((await send(aCaller(), 'GET', `/v1/orders/${id}/invoices`)).status).toBe(404)
  takeStatements()
  await issue(caller, id)
  expect(takeStatements()).toHaveLength(6)
})
