import type { Customer } from '@backoffice/contracts/customer.ts'
import type { Order } from '@backoffice/contracts/order.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { describe, expect, it, test } from 'vitest'
import { orderCustomer } from '../orders/order-customer.ts'
import { ordersService } from '../testing/orders-api.ts'
import { eraseBatch, eraseCustomers } from './erase-customers.ts'

const { admin, appUrl, catalog, createOrder, db, recordsOf, send, workerUrl } = await ordersService()

const ADA = { firstname: 'Ada', lastname: 'Byron', email: 'ada@example.com' }
const PERSONAL = { shipping_address: { street: '1 Main Street' }, note: 'Ring twice', gift_card_text: 'Dear Ada' }

const contextOf = ({ workspaceId, livemode }: Caller) => ({ workspaceId, livemode, traceparent: 'trace' })
const customerOf = async (caller: Caller, members: object = ADA) =>
  (await send<Customer>(caller, 'POST', '/v1/customers', members)).body
const erase = (caller: Caller, id: string) => send(caller, 'DELETE', `/v1/customers/${id}?force=true`)
const batch = (caller: Caller) => db.inWorkspace(contextOf(caller), (tx) => eraseBatch(tx, new Date()))
async function finish(caller: Caller) {
  while (await batch(caller));
}
const stageOf = async (id: string) => (await admin`select stage from customer_erasure where id = ${id}`)[0]?.stage
const formOf = async (order: string) => (await admin`select form from order_form where order_id = ${order}`)[0]?.form
const waitingSessions = (count: number) =>
  eventually(`${count} sessions wait`, async () => {
    const waiting = await admin`
      select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    return waiting.length === count
  })

/** Copies an order `count` times. */
const copyOrder = (order: string, count: number) => admin`
  with copy as (
    insert into sales_order
    select copied.*
    from sales_order as original, generate_series(1, ${count}::int) as n,
      json_populate_record(
        null::sales_order,
        (to_jsonb(original) || jsonb_build_object('id', uuidv7(), 'order_number', 'copy ' || n))::json
      ) as copied
    where original.id = ${order}
    returning workspace_id, id
  )
  insert into order_form (workspace_id, order_id, form) select workspace_id, id, '{"note": "Ring twice"}' from copy`
const personalOrders = ({ workspaceId }: Caller) => admin`
  select from sales_order join order_form on order_id = sales_order.id
  where sales_order.workspace_id = ${workspaceId} and (
    customer_id is not null or note is not null or shipping_address is not null or form::text <> '{}'
  )`

describe('DELETE /v1/customers/{id} (OP-130)', () => {
  it('answers 204, and 404 when it is sent again; customer.erased is published, and no webhook event', async () => {
    const caller = aCaller()
    const { id } = await customerOf(caller)
    expect(await erase(caller, id)).toMatchObject({ status: 204, body: undefined })
    expect((await erase(caller, id)).status).toBe(404)
    expect((await send(caller, 'GET', `/v1/customers/${id}`)).status).toBe(404)
    expect((await send(caller, 'PUT', `/v1/customers/${id}`, { note: 'x' })).status).toBe(404)
    expect((await recordsOf(id)).slice(1)).toEqual([
      { type: 'customer.erased', topic: 'orders.erasures', data: { id } },
    ])
    const [erasure] = await admin`select * from customer_erasure where id = ${id}`
    expect(erasure).toMatchObject({ workspace_id: caller.workspaceId, stage: 'ORDERS', done_at: null })
    expect((await customerOf(caller)).id).not.toBe(id)
  })

  it('erases nothing of another workspace', async () => {
    const caller = aCaller()
    const { id } = await customerOf(caller)
    expect((await erase(aCaller(), id)).status).toBe(404)
    expect((await send(caller, 'GET', `/v1/customers/${id}`)).status).toBe(200)
  })

  it('is done once by 20 clients at once', async () => {
    const caller = aCaller()
    const { id } = await customerOf(caller)
    const answers = await Promise.all(Array.from({ length: 20 }, () => erase(caller, id)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([204, ...Array(19).fill(404)])
    expect((await recordsOf(id)).filter(({ type }) => type === 'customer.erased')).toHaveLength(1)
  })
})

describe('the orders of an erased customer', () => {
  it('lose name and e-mail at once, then address, note, form, metadata of payments, reasons of refunds and customer; money and lines stay (OP-130)', async () => {
    const caller = aCaller()
    const order = await createOrder(caller, { customer: ADA, ...PERSONAL, total_shipping: 500 })
    const other = await createOrder(caller, { customer: { firstname: 'Eve' }, ...PERSONAL })
    const payment = { amount: 1, currency: 'EUR', reference: 'r', metadata: { holder: 'Ada' } }
    for (const { id } of [order, other]) {
      expect((await send(caller, 'POST', `/v1/orders/${id}/payments`, payment)).status).toBe(201)
      const refund = { amount: 1, currency: 'EUR', reference: 'r', reason: 'Ada was ill' }
      expect((await send(caller, 'POST', `/v1/orders/${id}/refunds`, refund)).status).toBe(201)
    }
    const reasonOf = async ({ id }: Order) => (await admin`select reason from refund where order_id = ${id}`)[0]?.reason
    const get = async ({ id }: Order) => (await send<Order>(caller, 'GET', `/v1/orders/${id}`)).body
    const metadataOf = async ({ id }: Order) =>
      (await admin`select metadata, amount from payment where order_id = ${id}`)[0]
    const [paid, otherPaid] = [await get(order), await get(other)]
    await erase(caller, order.customer?.id ?? '')
    expect(await get(order)).toEqual({ ...paid, customer: null })
    const updatedAt = async ({ id }: Order) =>
      (await admin<{ at: Date }[]>`select updated_at as at from sales_order where id = ${id}`)[0]?.at.getTime() ?? NaN
    const [updated, otherUpdated] = [await updatedAt(order), await updatedAt(other)]
    await finish(caller)
    expect(await updatedAt(order)).toBeGreaterThan(updated)
    expect(await updatedAt(other)).toBe(otherUpdated)
    expect(await get(order)).toEqual({ ...paid, customer: null, shipping_address: null, note: null })
    expect(await formOf(order.id)).toEqual({})
    expect(await metadataOf(order)).toEqual({ metadata: {}, amount: '1' })
    expect([await reasonOf(order), await reasonOf(other)]).toEqual([null, 'Ada was ill'])
    expect(await get(other)).toEqual(otherPaid)
    expect(await metadataOf(other)).toEqual({ metadata: payment.metadata, amount: '1' })
    expect(await formOf(other.id)).toMatchObject(PERSONAL)
    expect(await stageOf(order.customer?.id ?? '')).toBe('DONE')
    // Of the order, its payment and its refund.
    expect(await recordsOf(order.id)).toHaveLength(3)
    expect(await batch(caller)).toBe(false)
  })

  it.each([
    ['another customer, who keeps address, note and payment', { firstname: 'Bob' }, PERSONAL, { card: '1234' }],
    ['none', null, { shipping_address: null, note: null }, {}],
  ])('lose the form as submitted with him also once they have %s (OP-208)', async (_, customer, kept, metadata) => {
    const caller = aCaller()
    const order = await createOrder(caller, { customer: ADA, ...PERSONAL })
    const cart = await send<Order>(caller, 'PUT', `/v1/orders/${order.id}/cart`, { customer })
    expect([cart.status, await formOf(order.id)]).toEqual([200, expect.objectContaining({ customer: ADA })])
    const payment = { amount: 1, currency: 'EUR', reference: 'p', metadata: { card: '1234' } }
    expect((await send(caller, 'POST', `/v1/orders/${order.id}/payments`, payment)).status).toBe(201)
    await admin`update sales_order set payment_status = 'UNPAID' where id = ${order.id}`
    await erase(caller, order.customer?.id ?? '')
    await finish(caller)
    expect(await formOf(order.id)).toEqual({})
    expect(await admin`select metadata from payment where order_id = ${order.id}`).toEqual([{ metadata }])
    const { shipping_address, note } = kept
    expect((await send<Order>(caller, 'GET', `/v1/orders/${order.id}`)).body).toMatchObject({
      shipping_address,
      note,
      customer: cart.body.customer,
    })
    expect(await stageOf(order.customer?.id ?? '')).toBe('DONE')
    expect(await batch(caller)).toBe(false)
  })

  it('are named by customer.erased as they are erased, since their events may name no customer (OP-139)', async () => {
    const caller = aCaller()
    const former = await createOrder(caller, { customer: ADA, ...PERSONAL })
    const customer = former.customer?.id ?? ''
    await send(caller, 'PUT', `/v1/orders/${former.id}/cart`, { customer: null })
    const present = await createOrder(caller, { customer: { id: customer }, ...PERSONAL })
    await erase(caller, customer)
    const note = await send(caller, 'PUT', `/v1/orders/${present.id}`, { note: 'Ring once' })
    expect(note.status).toBe(200)
    expect((await recordsOf(present.id)).at(-1)?.data).toMatchObject({ customer: null, shipping_address: {} })
    await finish(caller)
    const erased = (await recordsOf(customer)).filter(({ type }) => type === 'customer.erased')
    expect(erased.map(({ topic, data }) => ({ topic, data }))).toEqual(
      [undefined, [present.id], [former.id]].map((orders) => ({
        topic: 'orders.erasures',
        data: { id: customer, ...(orders && { orders }) },
      })),
    )
  })

  it('are looked for once more when he is replaced while he is erased', async () => {
    const caller = aCaller()
    const order = await createOrder(caller, { customer: ADA, ...PERSONAL })
    await erase(caller, order.customer?.id ?? '')
    const cart = await send<Order>(caller, 'PUT', `/v1/orders/${order.id}/cart`, { customer: { firstname: 'Bob' } })
    expect(cart.status).toBe(200)
    await finish(caller)
    expect(await formOf(order.id)).toEqual({})
    expect((await send<Order>(caller, 'GET', `/v1/orders/${order.id}`)).body).toEqual(cart.body)
  })

  it('are erased in batches, and a process that ends between or within them loses nothing', async () => {
    const [caller, neighbour] = [aCaller(), aCaller()]
    const order = await createOrder(caller, { customer: ADA, ...PERSONAL })
    const theirs = await createOrder(neighbour, { customer: ADA, ...PERSONAL })
    await copyOrder(order.id, 1200)
    await erase(caller, order.customer?.id ?? '')
    expect(await batch(caller)).toBe(true)
    expect(await personalOrders(caller)).toHaveLength(701)
    const ended = db.inWorkspace(contextOf(caller), async (tx) => {
      await eraseBatch(tx, new Date())
      throw new Error('the process ended')
    })
    await expect(ended).rejects.toThrow('the process ended')
    expect(await personalOrders(caller)).toHaveLength(701)
    expect(await stageOf(order.customer?.id ?? '')).toBe('ORDERS')
    await finish(caller)
    expect(await personalOrders(caller)).toEqual([])
    expect(await stageOf(order.customer?.id ?? '')).toBe('DONE')
    expect(await personalOrders(neighbour)).toHaveLength(1)
    expect((await send<Order>(neighbour, 'GET', `/v1/orders/${theirs.id}`)).body).toEqual(theirs)
  })

  it('that a request has locked come later', async () => {
    const caller = aCaller()
    const order = await createOrder(caller, { customer: ADA, ...PERSONAL })
    await createOrder(caller, { customer: ADA, ...PERSONAL })
    await erase(caller, order.customer?.id ?? '')
    await admin.begin(async (tx) => {
      await tx`select from sales_order where id = ${order.id} for update`
      expect(await batch(caller)).toBe(true)
      expect(await batch(caller)).toBe(false)
      expect(await stageOf(order.customer?.id ?? '')).toBe('ORDERS')
    })
    await finish(caller)
    expect(await personalOrders(caller)).toEqual([])
  })
})

describe('stored answers (OP-08, OP-130)', () => {
  const keyed = (caller: Caller, path: string, body: unknown, key: string) =>
    send<{ id: string; error: { code: string; message: string } }>(caller, 'POST', path, body, {
      'idempotency-key': key,
    })
  const removed = (resource: string) =>
    `Idempotency-Key: was used to make ${resource}; its answer held a secret or personal data and is not kept`

  it('that name the customer or his orders are removed, and a repeated key is conflict; others are kept', async () => {
    const [caller, neighbour] = [aCaller(), aCaller()]
    const { id: variant } = await catalog.addVariant(caller)
    const form = { currency: 'EUR', items: [{ variant, quantity: 1 }], customer: ADA, ...PERSONAL }
    const eve = { firstname: 'Eve' }
    const customer = await keyed(caller, '/v1/customers', ADA, 'customer')
    const order = await keyed(caller, '/v1/orders', form, 'order')
    const others = await keyed(caller, '/v1/orders', { ...form, customer: eve }, 'other-order')
    const other = await keyed(caller, '/v1/customers', eve, 'other')
    const theirs = await keyed(neighbour, '/v1/customers', ADA, 'customer')
    await erase(caller, customer.body.id)
    // As of a request that ran between the erasure and the worker: without the customer, with the address.
    const stale = { ...order.body, customer: null }
    await admin`
      insert into idempotency_key (workspace_id, key, fingerprint, status, body)
      values (${caller.workspaceId}, 'between', 'x', 200, ${JSON.stringify(stale)}::text::json),
        (${caller.workspaceId}, 'payment', 'x', 201, ${JSON.stringify({ id: crypto.randomUUID(), order: order.body.id })}::text::json),
        (${caller.workspaceId}, 'list', 'x', 201, '[1]'), (${caller.workspaceId}, 'text', 'x', 201, '{"id": "no id"}')`
    await finish(caller)
    const left = await admin`
      select key from idempotency_key where workspace_id = ${caller.workspaceId} and body is not null order by key collate "C"`
    expect(left.map(({ key }) => key)).toEqual(['list', 'other', 'other-order', 'text'])

    const again = await keyed(caller, '/v1/customers', ADA, 'customer')
    expect([again.status, again.body.error.code, again.body.error.message]).toEqual([
      409,
      'conflict',
      removed(`customer ${customer.body.id}`),
    ])
    const orderAgain = await keyed(caller, '/v1/orders', form, 'order')
    expect([orderAgain.status, orderAgain.body.error.message]).toEqual([409, removed(`order ${order.body.id}`)])
    expect((await keyed(caller, '/v1/orders', { ...form, customer: eve }, 'other-order')).body).toEqual(others.body)
    expect((await keyed(caller, '/v1/customers', eve, 'other')).body).toEqual(other.body)
    expect((await keyed(neighbour, '/v1/customers', ADA, 'customer')).body).toEqual(theirs.body)
  })

  it('are looked at in batches, once for all customers that are erased together', async () => {
    const caller = aCaller()
    const customers: Customer[] = []
    for (let n = 0; n < 3; n++) customers.push(await customerOf(caller, { firstname: 'Ada' }))
    await admin`
      insert into idempotency_key (workspace_id, key, fingerprint, status, body)
      select ${caller.workspaceId}, format('key %s', n), 'x', 201, json_build_object('customer', case when n % 100 < 3
        then (${customers.map(({ id }) => id)}::text[])[n % 100 + 1] end)
      from generate_series(1, 1100) as n`
    for (const { id } of customers) await erase(caller, id)
    // Three customers without orders, a batch of changes of imports, then three of keys.
    for (let n = 0; n < 6; n++) expect(await batch(caller)).toBe(true)
    const stages = () => Promise.all(customers.map(({ id }) => stageOf(id)))
    expect(await stages()).toEqual(['ANSWERS', 'ANSWERS', 'ANSWERS'])
    expect(await batch(caller)).toBe(true)
    expect(await stages()).toEqual(['DONE', 'DONE', 'DONE'])
    const [kept] = await admin`
      select count(*) filter (where body is null)::int as removed, count(*)::int as all
      from idempotency_key where workspace_id = ${caller.workspaceId}`
    expect(kept).toEqual({ removed: 33, all: 1100 })
  })

  it('are looked at up to about a mebibyte at once', async () => {
    const caller = aCaller()
    const { id } = await customerOf(caller)
    await admin`
      insert into idempotency_key (workspace_id, key, fingerprint, status, body)
      select ${caller.workspaceId}, n, 'x', 201, json_build_object('customer', ${id}::text, 'note', (
        select string_agg(md5(n::text || part), '') from generate_series(1, 40000) as part
      ))
      from generate_series(1, 5) as n`
    await erase(caller, id)
    const batches: number[] = []
    while (await batch(caller)) {
      const [{ removed }] = await admin<[{ removed: number }]>`
        select count(*)::int as removed from idempotency_key where workspace_id = ${caller.workspaceId} and body is null`
      if (removed > (batches.at(-1) ?? 0)) batches.push(removed)
    }
    expect(batches.at(-1)).toBe(5)
    expect(batches.length).toBeGreaterThan(1)
  })
})

describe('an order with a customer that is erased at the same moment', () => {
  it('is created first, then the erasure finds it', async () => {
    const caller = aCaller()
    const { id } = await customerOf(caller)
    const order = await createOrder(caller)
    let erased: ReturnType<typeof erase> | undefined
    await db.inWorkspace(contextOf(caller), async (tx) => {
      const { customer } = await orderCustomer(tx, { email: 'ADA@example.com' }, new Date())
      erased = erase(caller, id)
      await waitingSessions(1)
      await tx`update sales_order set customer_id = ${customer?.id ?? null}, note = 'x' where id = ${order.id}`
    })
    expect((await erased)?.status).toBe(204)
    await finish(caller)
    expect((await send<Order>(caller, 'GET', `/v1/orders/${order.id}`)).body.note).toBeNull()
  })

  it('is refused by his id, and has a new customer by his e-mail address', async () => {
    const caller = aCaller()
    const { id } = await customerOf(caller)
    const { id: variant } = await catalog.addVariant(caller)
    const post = (customer: object) =>
      send<Order>(caller, 'POST', '/v1/orders', { currency: 'EUR', items: [{ variant, quantity: 1 }], customer })
    let waiting: ReturnType<typeof post>[] = []
    await admin.begin(async (tx) => {
      await tx`delete from customer where id = ${id}`
      waiting = [post({ id }), post(ADA)]
      await waitingSessions(2)
    })
    const [byId, byEmail] = await Promise.all(waiting)
    expect([byId?.status, byEmail?.status]).toEqual([422, 201])
    expect(byEmail?.body.customer?.id).not.toBe(id)
  })

  it('is never left with him, whichever comes first', async () => {
    const caller = aCaller()
    const { id: variant } = await catalog.addVariant(caller)
    const form = { currency: 'EUR', items: [{ variant, quantity: 1 }], customer: ADA, ...PERSONAL }
    const ids: string[] = []
    for (let round = 0; round < 8; round++) {
      const { id } = await customerOf(caller, { ...ADA, email: `ada${round}@example.com` })
      ids.push(id)
      const customer = { firstname: 'Ada', email: `ada${round}@example.com` }
      await Promise.all([
        send(caller, 'POST', '/v1/orders', { ...form, customer }),
        send(caller, 'POST', '/v1/orders', { ...form, customer: { id } }),
        erase(caller, id),
        send(caller, 'POST', '/v1/orders', { ...form, customer: { id } }),
        send(caller, 'POST', '/v1/orders', { ...form, customer }),
      ])
    }
    await finish(caller)
    expect(await admin`select from sales_order where customer_id = any(${ids}::uuid[])`).toEqual([])
    const lost = await admin`
      select from sales_order where workspace_id = ${caller.workspaceId}
        and customer_id is not null and not exists (select from customer where id = customer_id)`
    expect(lost).toEqual([])
    expect(
      await admin`select from sales_order where erased_at is null and customer_id is null and note is not null
      and workspace_id = ${caller.workspaceId}`,
    ).toEqual([])
  })
})

test('the worker takes the workspaces in turn, and one with a locked order holds up no other', async () => {
  const callers = [aCaller(), aCaller(), aCaller()]
  const erased = []
  for (const caller of callers) {
    const order = await createOrder(caller, { customer: ADA, ...PERSONAL })
    await erase(caller, order.customer?.id ?? '')
    erased.push({ caller, order: order.id, id: order.customer?.id ?? '' })
  }
  const worker = openDatabase({ url: workerUrl, applicationName: 'test worker', poolSize: 1 })
  const own = openDatabase({ url: appUrl, applicationName: 'test erasures', poolSize: 1 })
  const erasures = eraseCustomers({ db: own, worker, logger: createLogger('test', 'silent') })
  whenDone(async () => {
    await erasures.stop?.()
    await Promise.all([worker.stop?.(), own.stop?.()])
  })
  const [held, ...others] = erased
  await admin.begin(async (tx) => {
    await tx`select from sales_order where id = ${held?.order ?? ''} for update`
    await erasures.start?.()
    await eventually('the others are done', async () => {
      const stages = await Promise.all(others.map(({ id }) => stageOf(id)))
      return stages.every((stage) => stage === 'DONE')
    })
    expect(await stageOf(held?.id ?? '')).toBe('ORDERS')
  })
  await eventually('all is done', async () => (await stageOf(held?.id ?? '')) === 'DONE')
})
