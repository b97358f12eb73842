import { ORDER_STATUSES, type Order } from '@backoffice/contracts/order.ts'
import { aCaller, type Caller, testSigner } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { CatalogClient } from '../catalog/catalog-client.ts'
import { ordersService } from '../testing/orders-api.ts'
import { PATIENT } from '../testing/test-catalog.ts'

const { admin, send, catalog, createOrder, recordsOf, takeStatements, replica } = await ordersService()

const edit = <Body = Order>(caller: Caller, id: string, body: unknown) =>
  send<Body>(caller, 'PUT', `/v1/orders/${id}/cart`, body)
const put = (caller: Caller, id: string, body: unknown) => send<Order>(caller, 'PUT', `/v1/orders/${id}`, body)
const read = async (caller: Caller, id: string) => (await send<Order>(caller, 'GET', `/v1/orders/${id}`)).body
const pay = (caller: Caller, id: string, amount: number) =>
  send(caller, 'POST', `/v1/orders/${id}/payments`, { amount, currency: 'EUR', reference: `of ${amount}` })
const typesOf = async (id: string) => (await recordsOf(id)).map(({ type }) => type)

it('lines that are sent replace all lines at the prices of now, totals follow, and a variant keeps its line (OP-208)', async () => {
  const caller = aCaller()
  const [shirt, cap] = [await catalog.addVariant(caller), await catalog.addVariant(caller, { price: { EUR: 300 } })]
  const order = await createOrder(caller, { items: [{ variant: shirt.id, quantity: 2 }], total_shipping: 500 })
  await catalog.admin`update variant set price = '{"EUR": 1200}' where id = ${shirt.id}`
  const items = [
    { sku: cap.sku, quantity: 1 },
    { variant: shirt.id, quantity: 3, negotiated_unit_price: null },
  ]
  const { status, body } = await edit(caller, order.id, { items, total_discount: 100 })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    ...{
      id: order.id,
      subtotal_price: 3900,
      total_shipping: 500,
      total_discount: 100,
      total_price: 4300,
      total_items: 4,
    },
    items: [
      { sku: cap.sku, quantity: 1, unit_price: 300, total_price: 300 },
      { id: order.items[0]?.id, sku: shirt.sku, quantity: 3, unit_price: 1200, total_price: 3600 },
    ],
  })
  expect(await read(caller, order.id)).toEqual(body)
  expect((await recordsOf(order.id)).at(-1)).toMatchObject({ type: 'order.updated', data: body })
  expect((await put(caller, order.id, { status: 'PLACED' })).status).toBe(200)
  expect([await catalog.stockOf(shirt.id), await catalog.stockOf(cap.id)]).toEqual([97, 99])
})

it('amounts change without lines, and null unsets one', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller, { total_shipping: 500 })
  expect((await edit(caller, id, { total_tax: 70, total_shipping: null })).body).toMatchObject({
    ...{ subtotal_price: 2000, total_shipping: 0, total_tax: 70, total_price: 2070 },
  })
})

it('a customer changes by id or e-mail, a new one is created, and null leaves none (OP-40)', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller, { customer: { firstname: 'Ada', email: 'ada@example.com' } })
  const { body } = await edit(caller, id, { customer: { firstname: 'Bob', email: 'bob@example.com' } })
  expect(body.customer).toMatchObject({ name: 'Bob', email: 'bob@example.com' })
  expect(await typesOf(body.customer?.id ?? '')).toEqual(['customer.created'])
  expect((await edit(caller, id, { customer: { email: 'ADA@example.com' } })).body.customer?.name).toBe('Ada')
  expect((await edit(caller, id, { customer: { id: body.customer?.id } })).body.customer?.name).toBe('Bob')
  expect((await edit(caller, id, { customer: null })).body.customer).toBeNull()
  expect((await read(caller, id)).customer).toBeNull()
})

it('an edit that changes nothing fires nothing (OP-73)', async () => {
  const caller = aCaller()
  const order = await createOrder(caller)
  const items = order.items.map(({ sku, quantity }) => ({ sku, quantity }))
  for (const body of [{}, { items: null }, { items }, { total_shipping: 0 }]) {
    expect(await edit(caller, order.id, body)).toMatchObject({ status: 200, body: order })
  }
  expect(await typesOf(order.id)).toEqual(['order.created'])
})

it('what cannot be ordered, and a discount above the subtotal, are unprocessable and change nothing (OP-41)', async () => {
  const caller = aCaller()
  const order = await createOrder(caller)
  const stranger = await catalog.addVariant(aCaller())
  const refused = [
    [{ items: [{ variant: stranger.id, quantity: 1 }] }, 'items[0].variant'],
    [{ total_discount: 2001 }, 'total_discount'],
    [{ customer: { id: crypto.randomUUID() } }, 'customer.id'],
  ] as const
  for (const [body, message] of refused) {
    const answer = await edit<{ error: { message: string } }>(caller, order.id, body)
    expect([answer.status, answer.body.error.message]).toEqual([422, expect.stringContaining(message)])
  }
  expect(await read(caller, order.id)).toEqual(order)
})

it('only an order at CART without an invoice is edited (OP-207)', async () => {
  const caller = aCaller()
  for (const status of ORDER_STATUSES.filter((status) => status !== 'CART')) {
    const { id } = await createOrder(caller)
    if (status !== 'CANCELLED') await put(caller, id, { status: 'PLACED' })
    await put(caller, id, { status })
    const answer = await edit<{ error: { message: string } }>(caller, id, { total_tax: 1 })
    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
    expect(answer.body.error.message).toContain(`An order at ${status} cannot get other lines, amounts or customer`)
  }
  const { id } = await createOrder(caller)
  await send(caller, 'POST', `/v1/orders/${id}/invoices`, {})
  const answer = await edit<{ error: { message: string } }>(caller, id, { total_tax: 1 })
  expect([answer.status, answer.body.error.message]).toEqual([409, expect.stringContaining('it has an invoice')])
})

it('an order that is unknown or not at CART is refused as such, also while catalog is away', async () => {
  const caller = aCaller()
  const { id, items } = await createOrder(caller)
  await put(caller, id, { status: 'CANCELLED' })
  const withoutCatalog = replica(new CatalogClient('http://127.0.0.1:1', testSigner()))
  const body = { items: [{ sku: items[0]?.sku, quantity: 1 }] }
  const refusalOf = async (order: string) =>
    (await withoutCatalog(caller, 'PUT', `/v1/orders/${order}/cart`, body)).status
  const { id: open } = await createOrder(caller)
  expect([await refusalOf(crypto.randomUUID()), await refusalOf(id), await refusalOf(open)]).toEqual([404, 409, 503])
})

it('an order whose total falls to what was paid is PAID and placed, as by a payment (OP-47, OP-208)', async () => {
  const caller = aCaller()
  const order = await createOrder(caller)
  const [{ sku = '' } = {}] = order.items
  await pay(caller, order.id, 1000)
  const { body } = await edit(caller, order.id, { items: [{ sku, quantity: 1 }] })
  expect(body).toMatchObject({ status: 'PLACED', payment_status: 'PAID', total_price: 1000 })
  expect((await typesOf(order.id)).filter((type) => type === 'order.paid')).toHaveLength(1)
  expect(await admin`select total::int, status from invoice where order_id = ${order.id}`).toEqual([
    { total: 1000, status: 'PAID' },
  ])
})

it('an edit that is committed answers the order as it left it when the order cannot be read afterwards (OP-208)', async () => {
  const caller = aCaller()
  const order = await createOrder(caller)
  const [{ sku = '' } = {}] = order.items
  await pay(caller, order.id, 1000)
  const client = new CatalogClient(catalog.url, testSigner(), PATIENT)
  client.takeStock = async () => {
    await admin`alter table sales_order rename to away`
    throw new Error('catalog is away')
  }
  const body = { items: [{ sku, quantity: 1 }] }
  const edited = await replica(client)<Order>(caller, 'PUT', `/v1/orders/${order.id}/cart`, body)
  await admin`alter table away rename to sales_order`
  const present = await read(caller, order.id)
  expect(edited).toMatchObject({ status: 200, body: present })
  expect(present).toMatchObject({ status: 'CART', payment_status: 'PAID', total_price: 1000 })
})

it('lines that change while the stock of the former ones is taken are placed as they are (OP-44)', async () => {
  for (const when of ['before', 'after'] as const) {
    const caller = aCaller()
    const [shirt, cap] = [
      await catalog.addVariant(caller, { stock: 5 }),
      await catalog.addVariant(caller, { stock: 5 }),
    ]
    const { id } = await createOrder(caller, { items: [{ variant: shirt.id, quantity: 2 }] })
    const client = new CatalogClient(catalog.url, testSigner(), PATIENT)
    const takeStock = client.takeStock.bind(client)
    let isFirst = true
    client.takeStock = async (...take) => {
      const isEdited = isFirst
      isFirst = false
      const change = () => edit(caller, id, { items: [{ variant: cap.id, quantity: 3 }] })
      if (isEdited && when === 'before') await change()
      await takeStock(...take)
      if (isEdited && when === 'after') await change()
    }
    const placed = await replica(client)<Order>(caller, 'PUT', `/v1/orders/${id}`, { status: 'PLACED' })
    expect(placed).toMatchObject({ status: 200, body: { status: 'PLACED', items: [{ sku: cap.sku, quantity: 3 }] } })
    const released = await admin<{ key: string }[]>`
      select key from outbox where workspace_id = ${caller.workspaceId} and type = 'reservation.released'`
    for (const { key } of released) await catalog.send(caller, 'POST', '/internal/stock/release', { order: key })
    expect([await catalog.stockOf(shirt.id), await catalog.stockOf(cap.id)]).toEqual([5, 2])
    expect(await admin`select state from reservation where order_id = ${id}`).toEqual([{ state: 'HELD' }])
  }
})

it('the address changes at CART and PLACED, and not afterwards (OP-207)', async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  for (const status of ['CART', 'PLACED']) {
    const address = { street: status }
    expect((await put(caller, id, { status, shipping_address: address })).body).toMatchObject({ status })
    expect((await read(caller, id)).shipping_address).toEqual(address)
  }
  expect((await put(caller, id, { status: 'COMPLETED', note: 'sent' })).status).toBe(200)
  expect((await put(caller, id, { shipping_address: null })).status).toBe(409)
  expect((await put(caller, id, { note: 'arrived', promise_date: '2026-03-01' })).status).toBe(200)
})

it.each([
  [{ items: [] }, 'items'],
  [{ items: [{ quantity: 1 }] }, 'items[0]'],
  [{ currency: 'EUR' }, 'currency'],
  [{ total_tax: -1 }, 'total_tax'],
])('refuses %j as bad_request', async (body, message) => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  const answer = await edit<{ error: { message: string } }>(caller, id, body)
  expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining(message)])
})

it("another workspace's order is not found, and another scope is refused (OP-04)", async () => {
  const caller = aCaller()
  const { id } = await createOrder(caller)
  expect((await edit(aCaller(), id, { total_tax: 1 })).status).toBe(404)
  expect((await edit(aCaller({ ...caller, scopes: ['sale::create'] }), id, { total_tax: 1 })).status).toBe(403)
})

it('the number of statements does not depend on the number of lines', async () => {
  const caller = aCaller()
  const variants = await Promise.all(Array.from({ length: 20 }, () => catalog.addVariant(caller)))
  const counts: number[] = []
  for (const count of [1, 20]) {
    const { id } = await createOrder(caller)
    takeStatements()
    const items = variants.slice(0, count).map(({ id }) => ({ variant: id, quantity: 1 }))
    expect((await edit(caller, id, { items })).status).toBe(200)
    counts.push(takeStatements().length)
  }
  expect(counts).toEqual([10, 10])
})
