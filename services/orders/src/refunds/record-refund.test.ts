import type { Invoice, Order, Payment } from '@backoffice/contracts/order.ts'
import type { CreditNote, Refund } from '@backoffice/contracts/refund.ts'
import { aCaller, type Caller, testSigner } from '@backoffice/testing/caller.ts'
import { describeWalks } from '@backoffice/testing/list-walk.ts'
import { expect, it } from 'vitest'
import { CatalogClient } from '../catalog/catalog-client.ts'
import { ordersService } from '../testing/orders-api.ts'
import { PATIENT } from '../testing/test-catalog.ts'

const { admin, send, catalog, createOrder, recordsOf, takeStatements, replica } = await ordersService()

interface PageOf<Item> {
  readonly total: number
  readonly items: Item[]
}
interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string }
}

const withoutCatalog = replica(new CatalogClient('http://127.0.0.1:1', testSigner()))
const pay = (caller: Caller, id: string, members: Record<string, unknown> = {}, by = send) =>
  by<Payment>(caller, 'POST', `/v1/orders/${id}/payments`, {
    amount: 2000,
    currency: 'EUR',
    reference: 'p1',
    ...members,
  })
const refund = <Body = Refund>(
  caller: Caller,
  id: string,
  members: Record<string, unknown> = {},
  headers?: Record<string, string>,
) =>
  send<Body>(
    caller,
    'POST',
    `/v1/orders/${id}/refunds`,
    { amount: 2000, currency: 'EUR', reference: 'r1', ...members },
    headers,
  )
const read = async (caller: Caller, id: string) => (await send<Order>(caller, 'GET', `/v1/orders/${id}`)).body
const balance = async (caller: Caller, id: string) => (await send(caller, 'GET', `/v1/orders/${id}/balance`)).body
const listed = async <Item>(caller: Caller, path: string) => (await send<PageOf<Item>>(caller, 'GET', path)).body
const typesOf = async (id: string) => (await recordsOf(id)).map(({ type }) => type)
const refundedOf = async (id: string) =>
  (await admin<{ refunded: number }[]>`select refunded::float8 from sales_order where id = ${id}`)[0]?.refunded

/** An order of two pieces, 2,000 EUR, that is placed and paid. */
async function paidOrder(caller: Caller) {
  const { id } = await createOrder(caller, { status: 'PLACED' })
  const { body } = await pay(caller, id)
  return { id, payment: body.id }
}

it('a refund is recorded with a credit note; the order is REFUNDED once all is given back (OP-201 to OP-203)', async () => {
  const caller = aCaller()
  const { id, payment } = await paidOrder(caller)
  const before = await typesOf(id)
  const part = await refund(caller, id, { amount: 500, payment, reason: 'torn' })
  expect(part.status).toBe(201)
  expect(part.body).toEqual({
    id: expect.any(String),
    order: id,
    payment,
    amount: 500,
    currency: 'EUR',
    reference: 'r1',
    reason: 'torn',
    created_at: expect.any(String),
  })
  // A part is not owed again, and no body has changed.
  expect((await read(caller, id)).payment_status).toBe('PAID')
  expect(await typesOf(id)).toEqual(before)
  const rest = await refund(caller, id, { amount: 1500, reference: 'r2' })
  expect(rest).toMatchObject({ status: 201, body: { payment: null, reason: null } })
  const refunded = await read(caller, id)
  expect(refunded).toMatchObject({ status: 'PLACED', payment_status: 'REFUNDED' })
  expect((await recordsOf(id)).slice(before.length)).toEqual([
    { topic: 'orders.events', type: 'order.updated', data: refunded },
  ])
  expect(await listed(caller, `/v1/orders/${id}/refunds`)).toMatchObject({ total: 2, items: [rest.body, part.body] })
  const [invoice] = (await listed<Invoice>(caller, `/v1/orders/${id}/invoices`)).items
  expect(invoice?.status).toBe('PAID')
  const { items: notes } = await listed<CreditNote>(caller, `/v1/orders/${id}/credit-notes`)
  expect(notes).toEqual(
    [rest, part].map(({ body: { id: of, amount, created_at } }, index) => ({
      id: expect.any(String),
      number: String(2 - index),
      order: id,
      invoice: invoice?.id,
      refund: of,
      currency: 'EUR',
      total: amount,
      created_at,
    })),
  )
})

it('a reference is recorded once per order; a replay answers the same refund (OP-201)', async () => {
  const caller = aCaller()
  const [one, other] = [await paidOrder(caller), await paidOrder(caller)]
  const first = await refund(caller, one.id)
  expect(await refund(caller, one.id, { reason: 'again' })).toMatchObject({ status: 200, body: first.body })
  expect((await refund(caller, other.id)).status).toBe(201)
  for (const members of [{ amount: 1999 }, { currency: 'USD' }, { payment: one.payment }]) {
    expect(await refund(caller, one.id, members)).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
  }
  expect(await refundedOf(one.id)).toBe(2000)
  expect(await listed(caller, `/v1/orders/${one.id}/credit-notes`)).toMatchObject({ total: 1 })
  const key = { 'idempotency-key': 'k1' }
  const { id } = await paidOrder(caller)
  const keyed = await refund(caller, id, {}, key)
  expect(await refund(caller, id, {}, key)).toMatchObject({ status: 201, body: keyed.body })
})

it('is never above what was paid, nor above the payment that it names (OP-201)', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  expect((await refund<ErrorBody>(caller, id)).body.error.message).toContain('amount: must be at most 0 EUR')
  const first = (await pay(caller, id, { amount: 700 })).body
  await pay(caller, id, { amount: 400, reference: 'p2' })
  const beyond = await refund<ErrorBody>(caller, id, { amount: 701, payment: first.id })
  expect(beyond).toMatchObject({ status: 422, body: { error: { code: 'unprocessable' } } })
  expect(beyond.body.error.message).toContain('amount: must be at most 700 EUR, which is left of what was paid with')
  expect((await refund(caller, id, { amount: 600, payment: first.id })).status).toBe(201)
  expect((await refund(caller, id, { amount: 101, payment: first.id, reference: 'r2' })).status).toBe(422)
  expect((await refund(caller, id, { amount: 501, reference: 'r2' })).status).toBe(422)
  expect((await refund(caller, id, { amount: 450, reference: 'r2' })).status).toBe(201)
  // The order has less left than the payment.
  expect((await refund<ErrorBody>(caller, id, { amount: 100, payment: first.id, reference: 'r3' })).body).toMatchObject(
    {
      error: { message: expect.stringContaining('at most 50 EUR, which is left of what was paid with the order') },
    },
  )
  const foreign = await paidOrder(caller)
  const wrong = await refund<ErrorBody>(caller, id, { amount: 1, payment: foreign.payment, reference: 'r3' })
  expect(wrong).toMatchObject({ status: 422, body: { error: { message: expect.stringContaining('payment: ') } } })
  expect(await refundedOf(id)).toBe(1050)
  // No invoice, no credit note.
  expect(await listed(caller, `/v1/orders/${id}/credit-notes`)).toMatchObject({ total: 0 })
  expect(await read(caller, id)).toMatchObject({ status: 'CART', payment_status: 'PARTIALLY_PAID' })
})

it('refunds that many clients send at once give back what was paid and no more', async () => {
  const caller = aCaller()
  const { id, payment } = await paidOrder(caller)
  const send = (n: number) => refund(caller, id, { amount: 300, reference: `r${n}`, ...(n % 2 && { payment }) })
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => send(n)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(6)
  expect(answers.filter(({ status }) => status === 422)).toHaveLength(14)
  expect(await refundedOf(id)).toBe(1800)
  const same = await Promise.all(
    Array.from({ length: 20 }, () => refund(caller, id, { amount: 200, reference: 'last' })),
  )
  expect(same.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201])
  expect(await read(caller, id)).toMatchObject({ payment_status: 'REFUNDED' })
  const { items } = await listed<CreditNote>(caller, '/v1/credit-notes?limit=100')
  expect(items.map(({ number }) => Number(number)).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7])
})

it('a process that ends before the commit leaves nothing: the same reference is recorded later, without a gap', async () => {
  const caller = aCaller()
  const { id } = await paidOrder(caller)
  // The last statement of a refund fails, as when its connection is lost.
  await admin`
    create function fail_once() returns trigger language plpgsql as $$ begin raise 'lost' using errcode = '57P01'; end $$`
  await admin`create trigger fail_once before insert on credit_note for each row execute function fail_once()`
  expect((await refund(caller, id)).status).toBe(503)
  await admin`drop trigger fail_once on credit_note`
  expect(await refundedOf(id)).toBe(0)
  expect((await refund(caller, id)).status).toBe(201)
  expect((await listed<CreditNote>(caller, '/v1/credit-notes')).items).toMatchObject([{ number: '1' }])
})

it('a payment after a refund counts by what is kept, and order.paid and invoice.paid never fire twice (OP-202)', async () => {
  const caller = aCaller()
  const { id } = await paidOrder(caller)
  await refund(caller, id)
  await pay(caller, id, { amount: 500, reference: 'p2' })
  expect(await read(caller, id)).toMatchObject({ payment_status: 'PARTIALLY_PAID' })
  expect(await balance(caller, id)).toEqual({ total: 2000, paid: 2500, refunded: 2000, open: 1500, unfulfilled: 2 })
  await pay(caller, id, { amount: 1500, reference: 'p3' })
  expect(await read(caller, id)).toMatchObject({ payment_status: 'PAID' })
  const types = await typesOf(id)
  for (const once of ['order.paid', 'invoice.paid']) expect(types.filter((type) => type === once)).toHaveLength(1)
  // An order that was refunded before it was ever PAID: then it fires.
  const { id: other } = await createOrder(caller, { status: 'PLACED' })
  await pay(caller, other, { amount: 500 })
  await refund(caller, other, { amount: 500 })
  expect(await read(caller, other)).toMatchObject({ payment_status: 'REFUNDED' })
  await pay(caller, other, { amount: 1999, reference: 'p2' })
  expect(await read(caller, other)).toMatchObject({ payment_status: 'PARTIALLY_PAID' })
  await pay(caller, other, { amount: 1, reference: 'p3' })
  expect((await typesOf(other)).slice(-3)).toEqual(['order.updated', 'order.paid', 'invoice.paid'])
})

it('a deposit that was given back is owed again, also when it was paid and given back twice (OP-206)', async () => {
  const caller = aCaller()
  for (const status of ['CART', 'PLACED', 'CANCELLED']) {
    const { id } = await createOrder(caller)
    if (status !== 'CART') await send(caller, 'PUT', `/v1/orders/${id}`, { status })
    for (const reference of ['1', '2']) {
      await pay(caller, id, { amount: 1200, reference })
      await refund(caller, id, { amount: 1200, reference })
    }
    expect(await read(caller, id)).toMatchObject({ status, payment_status: 'REFUNDED' })
    const open = status === 'CANCELLED' ? 0 : 2000
    expect(await balance(caller, id)).toMatchObject({ paid: 2400, refunded: 2400, open })
    await pay(caller, id, { reference: '3' })
    expect((await typesOf(id)).filter((type) => type === 'order.paid')).toHaveLength(1)
    await refund(caller, id, { reference: '3' })
    expect(await balance(caller, id)).toMatchObject({ paid: 4400, refunded: 4400, open: 0 })
    await pay(caller, id, { reference: '4' })
    expect((await typesOf(id)).filter((type) => type === 'order.paid')).toHaveLength(1)
  }
})

it('an order that was paid after its cancellation is refunded without invoice and credit note (OP-145)', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  await send(caller, 'PUT', `/v1/orders/${id}`, { status: 'CANCELLED' })
  await pay(caller, id)
  expect((await refund(caller, id)).status).toBe(201)
  await pay(caller, id, { reference: 'p2' })
  expect(await read(caller, id)).toMatchObject({ status: 'CANCELLED', payment_status: 'PAID' })
  const events = ['order.created', 'order.updated', 'order.updated', 'order.paid', 'order.updated', 'order.updated']
  expect(await typesOf(id)).toEqual(events)
  expect(await listed(caller, '/v1/invoices')).toMatchObject({ total: 0, items: [] })
  expect(await listed(caller, '/v1/credit-notes')).toMatchObject({ total: 0, items: [] })
})

it('order.paid fires for a cancelled order that was refunded before it was ever PAID (OP-145)', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  await send(caller, 'PUT', `/v1/orders/${id}`, { status: 'CANCELLED' })
  await pay(caller, id, { amount: 1000 })
  await refund(caller, id, { amount: 500 })
  await pay(caller, id, { amount: 2000, reference: 'p2' })
  expect(await read(caller, id)).toMatchObject({ status: 'CANCELLED', payment_status: 'PAID' })
  expect((await typesOf(id)).slice(-2)).toEqual(['order.updated', 'order.paid'])
  // Its payments have come to its total before, without being kept.
  const { id: other } = await createOrder(caller)
  await send(caller, 'PUT', `/v1/orders/${other}`, { status: 'CANCELLED' })
  await pay(caller, other, { amount: 1000 })
  await refund(caller, other, { amount: 500 })
  await pay(caller, other, { amount: 1000, reference: 'p2' })
  expect(await read(caller, other)).toMatchObject({ status: 'CANCELLED', payment_status: 'PARTIALLY_PAID' })
  await pay(caller, other, { amount: 500, reference: 'p3' })
  expect((await typesOf(other)).slice(-2)).toEqual(['order.updated', 'order.paid'])
})

it('sums are exact up to 2^53−1 (OP-07)', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller, { status: 'PLACED' })
  const most = Number.MAX_SAFE_INTEGER
  const { body: payment } = await pay(caller, id, { amount: most })
  expect((await refund(caller, id, { amount: most - 1, payment: payment.id })).status).toBe(201)
  expect(await balance(caller, id)).toMatchObject({ paid: most, refunded: most - 1, open: 0 })
  expect((await refund(caller, id, { amount: most, reference: 'r2' })).status).toBe(422)
  expect((await refund(caller, id, { amount: 1, reference: 'r2' })).status).toBe(201)
  expect(await read(caller, id)).toMatchObject({ payment_status: 'REFUNDED' })
  expect(await balance(caller, id)).toMatchObject({ paid: most, refunded: most })
})

it.each([
  [{ amount: 0 }, 422, 'amount: must be above 0'],
  [{ amount: -1 }, 422, 'amount: must be above 0'],
  [{ currency: 'USD' }, 422, 'currency: must be that of the order, which is EUR'],
  [{ amount: 1.5 }, 400, 'amount'],
  [{ amount: 2 ** 53 }, 400, 'amount'],
  [{ currency: undefined }, 400, 'currency'],
  [{ reference: ' ' }, 400, 'reference'],
  [{ payment: 'p1' }, 400, 'payment: must be a UUID'],
  [{ reason: 5 }, 400, 'reason'],
  [{ status: 'REFUNDED' }, 400, 'status: unknown member'],
])('refuses %j', async (members, status, message) => {
  const caller = aCaller()
  const { id } = await paidOrder(caller)
  const answer = await refund<ErrorBody>(caller, id, members)
  expect(answer).toMatchObject({ status, body: { error: { code: status === 422 ? 'unprocessable' : 'bad_request' } } })
  expect(answer.body.error.message).toContain(message)
  expect(await refundedOf(id)).toBe(0)
})

it('what was paid beyond the invoice goes back first, without a credit note, and notes come to no more than it (OP-203)', async () => {
  const caller = aCaller()
  const { id, total_price: total } = await createOrder(caller)
  const amount = (value: number) => ({ amount: value, currency: 'EUR', reference: crypto.randomUUID() })
  const pay = (value: number) => send(caller, 'POST', `/v1/orders/${id}/payments`, amount(value))
  const refund = (value: number) => send(caller, 'POST', `/v1/orders/${id}/refunds`, amount(value))
  const notes = async () => {
    const { items } = await listed<CreditNote>(caller, `/v1/orders/${id}/credit-notes`)
    return items.map((note) => [note.number, note.total]).toSorted()
  }
  await pay(total + 50)
  await refund(30)
  expect(await notes()).toEqual([])
  await refund(40)
  expect(await notes()).toEqual([['1', 20]])
  await pay(10)
  await refund(total - 10)
  expect(await notes()).toEqual([
    ['1', 20],
    ['2', total - 20],
  ])
  await pay(100)
  expect((await refund(100)).status).toBe(201)
  expect(await notes()).toHaveLength(2)
})

it('a deposit that is owed again gets no credit note; refunds of the invoice that is then PAID get theirs (OP-203)', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller, { status: 'PLACED' })
  const notes = async () => {
    const { items } = await listed<CreditNote>(caller, `/v1/orders/${id}/credit-notes`)
    return items.map(({ total }) => total)
  }
  await pay(caller, id, { amount: 1200 })
  await refund(caller, id, { amount: 1200 })
  expect(await notes()).toEqual([])
  await pay(caller, id, { reference: 'p2' })
  await refund(caller, id, { amount: 500, reference: 'r2' })
  expect(await notes()).toEqual([500])
  // What is paid again is beyond what the note has left of the invoice.
  await pay(caller, id, { amount: 100, reference: 'p3' })
  await refund(caller, id, { amount: 300, reference: 'r3' })
  expect(await notes()).toEqual([200, 500])
})

it('a deposit of a CANCELLED order gets a credit note of its invoice, since it is not owed again (OP-203)', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller, { status: 'PLACED' })
  await pay(caller, id, { amount: 1200 })
  await send(caller, 'PUT', `/v1/orders/${id}`, { status: 'CANCELLED' })
  await refund(caller, id, { amount: 700 })
  expect((await listed<CreditNote>(caller, `/v1/orders/${id}/credit-notes`)).items).toMatchObject([{ total: 700 }])
})

it("another workspace's orders, invoices and credit notes are not found, and another scope is refused", async () => {
  const [caller, stranger] = [aCaller(), aCaller()]
  const { id } = await paidOrder(caller)
  await refund(caller, id)
  const [invoice] = (await listed<Invoice>(caller, '/v1/invoices')).items
  const [note] = (await listed<CreditNote>(caller, '/v1/credit-notes')).items
  for (const body of [invoice, note]) {
    const path = `/v1/${body === note ? 'credit-notes' : 'invoices'}/${body?.id}`
    expect(await send(caller, 'GET', path)).toMatchObject({ status: 200, body })
    expect((await send(stranger, 'GET', path)).status).toBe(404)
  }
  expect((await refund(stranger, id)).status).toBe(404)
  for (const path of ['refunds', 'credit-notes', 'balance']) {
    expect((await send(stranger, 'GET', `/v1/orders/${id}/${path}`)).status, path).toBe(404)
  }
  for (const path of ['/v1/invoices', '/v1/credit-notes']) {
    expect(await listed(stranger, path)).toMatchObject({ total: 0, items: [] })
  }
  const reader = aCaller({ ...caller, scopes: ['sale::read'] })
  expect((await refund(reader, id, { reference: 'r2' })).status).toBe(403)
  expect((await send(reader, 'GET', '/v1/credit-notes')).status).toBe(200)
})

it('the balance of an order in every status (OP-206)', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  const put = (status: string) => send(caller, 'PUT', `/v1/orders/${id}`, { status })
  expect(await balance(caller, id)).toEqual({ total: 2000, paid: 0, refunded: 0, open: 2000, unfulfilled: 2 })
  await pay(caller, id, { amount: 500 })
  await put('PLACED')
  expect(await balance(caller, id)).toEqual({ total: 2000, paid: 500, refunded: 0, open: 1500, unfulfilled: 2 })
  const { items } = await read(caller, id)
  await send(caller, 'POST', `/v1/orders/${id}/fulfillments`, { items: [{ id: items[0]?.id, quantity: 1 }] })
  await put('COMPLETED')
  expect(await balance(caller, id)).toEqual({ total: 2000, paid: 500, refunded: 0, open: 1500, unfulfilled: 1 })
  await refund(caller, id, { amount: 100 })
  expect(await balance(caller, id)).toEqual({ total: 2000, paid: 500, refunded: 100, open: 1600, unfulfilled: 1 })
  await pay(caller, id, { amount: 1650, reference: 'p2' })
  expect(await balance(caller, id)).toEqual({ total: 2000, paid: 2150, refunded: 100, open: 0, unfulfilled: 1 })
  await refund(caller, id, { amount: 1000, reference: 'r2' })
  expect(await balance(caller, id)).toEqual({ total: 2000, paid: 2150, refunded: 1100, open: 0, unfulfilled: 1 })
  const cancelled = await createOrder(caller, { status: 'PLACED' })
  await send(caller, 'PUT', `/v1/orders/${cancelled.id}`, { status: 'CANCELLED' })
  const nothing = { total: 2000, paid: 0, refunded: 0, open: 0, unfulfilled: 0 }
  expect(await balance(caller, cancelled.id)).toEqual(nothing)
})

it('an order at CART that is refunded is not placed any more, until it is paid again (OP-204)', async () => {
  const caller = aCaller()
  const variant = await catalog.addVariant(caller, { stock: 5 })
  const { id } = await createOrder(caller, { items: [{ variant: variant.id, quantity: 2 }] })
  const placements = () => admin`select from placement where order_id = ${id}`
  await pay(caller, id, {}, withoutCatalog)
  expect(await placements()).toHaveLength(1)
  await refund(caller, id, { amount: 1 })
  expect(await placements()).toHaveLength(1)
  await refund(caller, id, { amount: 1999, reference: 'r2' })
  expect(await read(caller, id)).toMatchObject({ status: 'CART', payment_status: 'REFUNDED' })
  expect(await placements()).toHaveLength(0)
  await pay(caller, id, { reference: 'p2' })
  expect(await read(caller, id)).toMatchObject({ status: 'PLACED', payment_status: 'PAID' })
  expect(await placements()).toHaveLength(0)
  expect(await catalog.stockOf(variant.id)).toBe(3)
})

it('a refund while the order is being placed leaves it at CART, and the stock goes back (OP-204)', async () => {
  const caller = aCaller()
  const variant = await catalog.addVariant(caller, { stock: 2 })
  const { id } = await createOrder(caller, { items: [{ variant: variant.id, quantity: 2 }] })
  const client = new CatalogClient(catalog.url, testSigner(), PATIENT)
  const takeStock = client.takeStock.bind(client)
  client.takeStock = async (...take) => {
    await takeStock(...take)
    expect((await refund(caller, id)).status).toBe(201)
  }
  expect((await pay(caller, id, {}, replica(client))).status).toBe(201)
  expect(await read(caller, id)).toMatchObject({ status: 'CART', payment_status: 'REFUNDED' })
  expect(await admin`select from placement where order_id = ${id}`).toHaveLength(0)
  expect(await admin`select from reservation where order_id = ${id}`).toHaveLength(0)
  const [released] = await admin<{ key: string }[]>`
    select key from outbox where workspace_id = ${caller.workspaceId} and type = 'reservation.released'`
  await catalog.send(caller, 'POST', '/internal/stock/release', { order: released?.key })
  expect(await catalog.stockOf(variant.id)).toBe(2)
  // The merchant may still place it.
  expect((await send(caller, 'PUT', `/v1/orders/${id}`, { status: 'PLACED' })).status).toBe(200)
})

it('takes the same number of statements for an order of any size', async () => {
  const caller = aCaller()
  const variants = await Promise.all(Array.from({ length: 20 }, () => catalog.addVariant(caller)))
  for (const count of [1, 20]) {
    const items = variants.slice(0, count).map(({ id }) => ({ variant: id, quantity: 1 }))
    const { id, total_price } = await createOrder(caller, { items, status: 'PLACED' })
    await pay(caller, id, { amount: total_price })
    takeStatements()
    await refund(caller, id, { amount: 1 })
    expect(takeStatements()).toHaveLength(8)
    await refund(caller, id, { amount: total_price - 1, reference: 'rest' })
    expect(takeStatements()).toHaveLength(9)
    await refund(caller, id, { amount: 1 })
    expect(takeStatements()).toHaveLength(7)
    await balance(caller, id)
    expect(takeStatements()).toHaveLength(4)
  }
})

it('documents of a workspace are counted by their counter, and read with the same number of statements', async () => {
  const caller = aCaller()
  const { id } = await paidOrder(caller)
  await refund(caller, id, { amount: 1 })
  for (const path of ['/v1/invoices', '/v1/credit-notes']) {
    takeStatements()
    expect(await listed(caller, path)).toMatchObject({ total: 1 })
    const statements = takeStatements()
    expect(statements).toHaveLength(5)
    expect(statements.join()).not.toContain('count(*)')
  }
})

const aRefund = (caller: Caller, id: string) => refund(caller, id, { amount: 1, reference: crypto.randomUUID() })
const walked =
  (path: (order: string) => string, insert = aRefund) =>
  async () => {
    const [caller, other] = [aCaller(), aCaller()]
    const [order, foreign] = [await paidOrder(caller), await paidOrder(other)]
    for (let n = 0; n < 10; n++) await insert(caller, order.id)
    await insert(other, foreign.id)
    const [item] = (await listed<{ id: string }>(other, path(foreign.id))).items
    return {
      caller,
      path: path(order.id),
      foreign: item?.id ?? '',
      insert: () => insert(caller, order.id),
      change: async () => undefined,
    }
  }
describeWalks('the refunds of an order', { send, list: walked((order) => `/v1/orders/${order}/refunds`) })
describeWalks('the credit notes of a workspace', { send, list: walked(() => '/v1/credit-notes') })
describeWalks('the credit notes of an order', { send, list: walked((order) => `/v1/orders/${order}/credit-notes`) })
describeWalks('the invoices of a workspace', {
  send,
  list: walked(
    () => '/v1/invoices',
    async (caller) => (await createOrder(caller, { status: 'PLACED' })) as never,
  ),
})
