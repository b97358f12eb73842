import type { Order } from '@backoffice/contracts/order.ts'
import type { Product } from '@backoffice/contracts/product.ts'
import { aCaller, type Caller, testSigner } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { CatalogClient } from '../catalog/catalog-client.ts'
import { ordersService } from '../testing/orders-api.ts'

const { admin, send, catalog, createOrder, recordsOf, takeStatements, replica } = await ordersService()

/** A replica that cannot connect to catalog. */
const sendWithoutCatalog = replica(new CatalogClient('http://127.0.0.1:1', testSigner()))

it('an order is created at CART with the prices of this moment (OP-41, OP-44)', async () => {
  const caller = aCaller()
  const shirt = await catalog.addVariant(caller, { price: { EUR: 1000, USD: 1200 } })
  const cap = await catalog.addVariant(caller, { name: 'Cap', price: { EUR: 300 } })
  const { status, body } = await send<Order>(caller, 'POST', '/v1/orders', {
    currency: 'EUR',
    items: [
      { variant: shirt.id, quantity: 2 },
      { sku: cap.sku, quantity: 3, negotiated_unit_price: 250 },
    ],
    customer: { firstname: 'Ada', lastname: 'Byron', email: 'Ada@example.com' },
    total_shipping: 500,
    total_tax: 100,
    total_discount: 50,
  })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    status: 'CART',
    payment_status: 'UNPAID',
    fulfillment_status: 'UNFULFILLED',
    customer: { name: 'Ada Byron', email: 'Ada@example.com' },
    items: [
      { title: 'Shirt', sku: shirt.sku, quantity: 2, unit_price: 1000, negotiated_unit_price: null, total_price: 2000 },
      { title: 'Cap', sku: cap.sku, quantity: 3, unit_price: 300, negotiated_unit_price: 250, total_price: 750 },
    ],
    subtotal_price: 2750,
    total_price: 3300,
    total_items: 5,
  })
  expect((await send<Order>(caller, 'GET', `/v1/orders/${body.id}`)).body).toEqual(body)
  expect(await recordsOf(body.id)).toEqual([{ topic: 'orders.events', type: 'order.created', data: body }])
})

it('a form that asks for PLACED takes the stock, and fires order.created at CART and order.updated (OP-44)', async () => {
  const caller = aCaller()
  const shirt = await catalog.addVariant(caller, { stock: 3 })
  const form = { currency: 'EUR', items: [{ variant: shirt.id, quantity: 2 }], status: 'PLACED' }
  const { status, body } = await send<Order>(caller, 'POST', '/v1/orders', form)
  expect(status).toBe(201)
  expect(body.status).toBe('PLACED')
  expect(await catalog.stockOf(shirt.id)).toBe(1)
  expect(await recordsOf(body.id)).toMatchObject([
    { type: 'order.created', data: { status: 'CART' } },
    { type: 'order.updated', data: body },
  ])
  expect(await send(caller, 'POST', '/v1/orders', form)).toMatchObject({
    status: 409,
    body: { error: { code: 'conflict' } },
  })
  expect(await catalog.stockOf(shirt.id)).toBe(1)
  expect((await createOrder(caller)).status).toBe('CART')
})

const MIB = 1024 * 1024
/** An object with this many levels. */
const nested = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)
const HIGHEST = Number.MAX_SAFE_INTEGER

/** Sends a form of one line that `members` change, and expects a refusal that writes nothing. */
async function refusal(caller: Caller, members: Record<string, unknown>, variant?: { id: string }) {
  const { id } = variant ?? (await catalog.addVariant(caller))
  const form = { currency: 'EUR', items: [{ variant: id, quantity: 1 }], ...members }
  const { status, body } = await send(caller, 'POST', '/v1/orders', form)
  const rows = await admin`select from outbox where workspace_id = ${caller.workspaceId}`
  expect(rows, 'records of a refused request').toHaveLength(0)
  return `${status} ${body.error?.code} ${body.error?.message}`
}

it.each<[string, Record<string, unknown>]>([
  ['items', { items: [] }],
  ['items', { items: undefined }],
  ['items', { items: null }],
  ['items', { items: {} }],
  ['items', { items: Array.from({ length: 1001 }, () => ({ sku: 'a', quantity: 1 })) }],
  ['items[0]', { items: [7] }],
  ['items[0]: must have either variant or sku', { items: [{ quantity: 1 }] }],
  ['items[0]: must have either variant or sku', { items: [{ variant: null, quantity: 1 }] }],
  ['items[0]: must have either variant or sku', { items: [{ variant: crypto.randomUUID(), sku: 'a', quantity: 1 }] }],
  ['items[0].variant', { items: [{ variant: 'shirt', quantity: 1 }] }],
  ['items[0].sku', { items: [{ sku: ' a', quantity: 1 }] }],
  ['items[0].quantity', { items: [{ sku: 'a' }] }],
  ['items[0].quantity', { items: [{ sku: 'a', quantity: null }] }],
  ['items[0].quantity', { items: [{ sku: 'a', quantity: 0 }] }],
  ['items[0].quantity', { items: [{ sku: 'a', quantity: -1 }] }],
  ['items[0].quantity', { items: [{ sku: 'a', quantity: 1.5 }] }],
  ['items[0].quantity', { items: [{ sku: 'a', quantity: '1' }] }],
  ['items[0].quantity', { items: [{ sku: 'a', quantity: 2 ** 53 }] }],
  ['items[0].negotiated_unit_price', { items: [{ sku: 'a', quantity: 1, negotiated_unit_price: -1 }] }],
  ['items[0].negotiated_unit_price', { items: [{ sku: 'a', quantity: 1, negotiated_unit_price: 0.5 }] }],
  ['currency', { currency: undefined }],
  ['currency', { currency: 'eur' }],
  ['currency', { currency: null }],
  ['total_shipping', { total_shipping: -1 }],
  ['total_tax', { total_tax: 1.5 }],
  ['total_discount', { total_discount: 2 ** 53 }],
  ['status', { status: 'COMPLETED' }],
  ['status', { status: 'PAID' }],
  ['sales_channel', { sales_channel: ' ' }],
  ['note', { note: 'n'.repeat(65_537) }],
  ['note', { note: 'a\0b' }],
  ['order_datetime', { order_datetime: '2026-03-01' }],
  ['promise_date', { promise_date: '2026-02-30' }],
  ['promise_date', { promise_date: '0999-01-01' }],
  ['shipping_address', { shipping_address: 'Berlin' }],
  ['shipping_address', { shipping_address: [] }],
  ['shipping_address: must not nest deeper', { shipping_address: nested(11) }],
  ['shipping_address.ids[1]: must be at most 9007199254740991', { shipping_address: { ids: [1, 2 ** 53] } }],
  ['gift.card: must be at least -9007199254740991', { gift: { card: -(2 ** 60) } }],
  ['customer: must have id, email or firstname', { customer: {} }],
  ['customer.id', { customer: { id: 'ada' } }],
  ['customer.email', { customer: { email: 'ada' } }],
  ['customer.firstname', { customer: { firstname: '' } }],
])('a form with a bad %s is a bad_request', async (message, members) => {
  const answer = await refusal(aCaller(), members)
  expect(answer).toMatch(/^400 bad_request /)
  expect(answer).toContain(message)
})

it('an address of 10 levels is kept as it was sent (OP-141)', async () => {
  const caller = aCaller()
  const shipping_address = nested(10)
  expect((await createOrder(caller, { shipping_address })).shipping_address).toEqual(shipping_address)
})

it('a variant that the workspace does not have is unprocessable (OP-41)', async () => {
  const foreign = await catalog.addVariant(aCaller())
  for (const line of [
    { variant: crypto.randomUUID() },
    { variant: foreign.id },
    { sku: foreign.sku },
    { sku: 'none' },
  ]) {
    const answer = await refusal(aCaller(), { items: [{ ...line, quantity: 1 }] })
    const [member, value] = Object.entries(line)[0] ?? []
    expect(answer).toMatch(/^422 unprocessable items\[0\]\./)
    expect(answer).toContain(`items[0].${member}: this workspace has no variant`)
    expect(answer).toContain(value)
  }
})

it('a variant of a product that is hidden or archived is unprocessable (OP-141)', async () => {
  for (const status of ['HIDDEN', 'ARCHIVED']) {
    const caller = aCaller()
    const answer = await refusal(caller, {}, await catalog.addVariant(caller, { status }))
    expect(answer).toContain('422 unprocessable items[0].variant')
    expect(answer).toContain(`cannot be ordered while its product is ${status}`)
  }
})

it('a variant without a price in the currency is unprocessable, also with a negotiated price (OP-44)', async () => {
  const caller = aCaller()
  const variant = await catalog.addVariant(caller, { price: { USD: 5 } })
  expect(await refusal(caller, {}, variant)).toContain('422 unprocessable items[0].variant')
  const items = [{ variant: variant.id, quantity: 1, negotiated_unit_price: 5 }]
  expect(await refusal(caller, { items }, variant)).toContain('has no price in EUR')
})

it('a discount above the subtotal, and amounts beyond 2^53−1, are unprocessable (OP-41, OP-07)', async () => {
  const caller = aCaller()
  const variant = await catalog.addVariant(caller, { price: { EUR: 1000 } })
  const dear = await catalog.addVariant(caller, { price: { EUR: HIGHEST } })
  const cases: [string, Record<string, unknown>][] = [
    ['total_discount: must not be above the subtotal of 1000', { total_discount: 1001 }],
    ['items[0].quantity', { items: [{ variant: variant.id, quantity: HIGHEST }] }],
    ['items', { items: [dear, variant].map(({ id }) => ({ variant: id, quantity: 1 })) }],
    ['total_shipping', { total_shipping: HIGHEST }],
    ['total_tax', { total_tax: HIGHEST }],
  ]
  for (const [path, members] of cases) {
    const answer = await refusal(caller, members, variant)
    expect(answer).toContain(`422 unprocessable ${path}`)
  }
  const highest = await createOrder(caller, { items: [{ variant: dear.id, quantity: 1 }] })
  expect(highest.total_price).toBe(HIGHEST)
})

it('a body of more than 1 MiB is too large (OP-07)', async () => {
  expect(await refusal(aCaller(), { metadata: { text: 'x'.repeat(MIB) } })).toContain('413 payload_too_large')
})

it('a variant that is ordered twice makes two lines, and takes the sum from stock (OP-141)', async () => {
  const caller = aCaller()
  const { id, sku } = await catalog.addVariant(caller, { stock: 5 })
  const items = [
    { variant: id, quantity: 2 },
    { sku, quantity: 2, negotiated_unit_price: 1 },
  ]
  const order = await createOrder(caller, { items, status: 'PLACED' })
  expect(order.items).toMatchObject([
    { sku, quantity: 2, total_price: 2000 },
    { sku, quantity: 2, total_price: 2 },
  ])
  expect(await catalog.stockOf(id)).toBe(1)
})

it('the customer of an order is known by id or e-mail address, or new, or none (OP-40)', async () => {
  const caller = aCaller()
  expect((await createOrder(caller)).customer).toBeNull()
  const { customer } = await createOrder(caller, { customer: { firstname: 'Ada', email: 'ada@example.com' } })
  expect(customer).toEqual({ id: expect.any(String), name: 'Ada', email: 'ada@example.com' })
  // A known customer is not changed by an order.
  for (const form of [
    { id: customer?.id },
    { email: 'ADA@example.com' },
    { email: 'ada@example.com', firstname: 'Eve' },
  ]) {
    expect((await createOrder(caller, { customer: form })).customer).toEqual(customer)
  }
  expect(await recordsOf(customer?.id ?? '')).toMatchObject([{ type: 'customer.created' }])
  const nameless = await createOrder(caller, { customer: { firstname: 'Ada' } })
  expect(nameless.customer).toMatchObject({ name: 'Ada', email: null })
  expect(nameless.customer?.id).not.toBe(customer?.id)
  const stranger = aCaller()
  expect(await refusal(stranger, { customer: { id: customer?.id } })).toContain('422 unprocessable customer.id')
  expect(await refusal(stranger, { customer: { email: 'ada@example.com' } })).toContain(
    '422 unprocessable customer.firstname: is required',
  )
})

it('orders of one new customer at once make one customer (OP-40)', async () => {
  const caller = aCaller()
  const customer = { firstname: 'Ada', email: 'ada@example.com' }
  const orders = await Promise.all(Array.from({ length: 8 }, () => createOrder(caller, { customer })))
  expect(new Set(orders.map((order) => order.customer?.id)).size).toBe(1)
  expect(await recordsOf(orders[0]?.customer?.id ?? '')).toMatchObject([{ type: 'customer.created' }])
})

it('an Idempotency-Key replays the order, also after its prices have changed (OP-08)', async () => {
  const caller = aCaller()
  const { id, product } = await catalog.addVariant(caller, { stock: 2 })
  const form = { currency: 'EUR', items: [{ variant: id, quantity: 2 }], status: 'PLACED' }
  const key = { 'idempotency-key': 'k1' }
  const first = await send<Order>(caller, 'POST', '/v1/orders', form, key)
  await catalog.send(caller, 'PUT', `/v1/products/${product}`, { price: { EUR: 1 } })
  expect(await send(caller, 'POST', '/v1/orders', form, key)).toMatchObject({ status: 201, body: first.body })
  expect(await send(caller, 'POST', '/v1/orders', { ...form, note: 'x' }, key)).toMatchObject({ status: 409 })
  expect(await catalog.stockOf(id)).toBe(0)
})

it('without catalog no order is created (OP-137)', async () => {
  const caller = aCaller()
  const form = { currency: 'EUR', items: [{ sku: 'a', quantity: 1 }] }
  expect(await sendWithoutCatalog(caller, 'POST', '/v1/orders', form)).toMatchObject({ status: 503 })
  expect(await send(aCaller({ ...caller, scopes: ['sale::read'] }), 'POST', '/v1/orders', form)).toMatchObject({
    status: 403,
  })
})

it('the number of statements does not depend on the number of lines', async () => {
  const caller = aCaller()
  const variants = await Promise.all(Array.from({ length: 20 }, () => catalog.addVariant(caller)))
  for (const count of [1, 20]) {
    const items = variants.slice(0, count).map(({ id }) => ({ variant: id, quantity: 1 }))
    const customer = { firstname: 'Ada', email: `${crypto.randomUUID()}@example.com` }
    takeStatements()
    await createOrder(caller, { items, customer, currency: 'EUR' })
    expect(takeStatements().length).toBeLessThanOrEqual(10)
    await createOrder(caller, { items, customer: { ...customer, email: `x-${customer.email}` }, status: 'PLACED' })
    expect(takeStatements().length).toBeLessThanOrEqual(16)
  }
})

const RECORD_BYTES = 8 * MIB

it('an order of the largest legal values fits into a record of 8 MiB, also once it is changed', async () => {
  const caller = aCaller()
  // A control character takes six bytes in JSON, more than any other character.
  const longest = (text: string) => text.padEnd(255, '\u0001')
  const fit = longest('Slim')
  const products = await Promise.all(
    [0, 1, 2, 3].map((part) =>
      catalog.send<Product>(caller, 'POST', '/v1/products', {
        name: longest('Shirt'),
        type: 'VARIABLE_PRODUCT',
        options: [
          { name: 'Fit', values: [fit] },
          { name: 'Size', values: Array.from({ length: 250 }, (_, index) => `${index}`) },
        ],
        variants: Array.from({ length: 250 }, (_, index) => ({
          sku: longest(`${part}-${index}`),
          attributes: { Fit: fit, Size: `${index}` },
          price: { EUR: 1_000_000_000 },
          stock: 0,
        })),
      }),
    ),
  )
  const lines = products.flatMap((product) =>
    product.variants.map(({ id }) => ({ variant: id, quantity: 9000, negotiated_unit_price: 1_000_000_000 })),
  )
  const form = JSON.stringify({
    currency: 'EUR',
    items: lines,
    customer: { firstname: longest('A'), lastname: longest('B'), email: `${'a'.repeat(64)}@example.com` },
    sales_channel: longest('C'),
    order_datetime: '2026-03-01T12:00:00Z',
    promise_date: '2026-03-01',
  })
  // The address fills the body. Four characters of such a number become 16.
  const addressOf = (bytes: number) => `{"a":[${'9e15,'.repeat(Math.floor((bytes - 100) / 5))}1]}`
  const body = `${form.slice(0, -1)},"shipping_address":${addressOf(MIB - form.length)}}`
  const { status, body: order } = await send<Order>(caller, 'POST', '/v1/orders', body)
  expect(status).toBe(201)
  expect(order.total_price).toBe(9_000_000_000_000_000)
  for (const change of [{ note: '\u0001'.repeat(65_536) }, `{"shipping_address":${addressOf(MIB)}}`])
    expect((await send(caller, 'PUT', `/v1/orders/${order.id}`, change)).status).toBe(200)
  const records = await admin<{ bytes: number }[]>`
    select octet_length(payload::text) as bytes from outbox where key = ${order.id} order by id`
  expect(records).toHaveLength(3)
  expect(records.at(-1)?.bytes).toBeGreaterThan(RECORD_BYTES * 0.9)
  for (const { bytes } of records) expect(bytes).toBeLessThan(RECORD_BYTES - 1000)

  // Its stock is short. What it has is measured before it is read (OP-192).
  const path = `/v1/orders/${order.id}`
  const measured = async (...request: [method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown]) => {
    takeStatements()
    const { status } = await send(caller, ...request)
    return [status, takeStatements().find((text) => text.includes('from sales_order'))]
  }
  const isMeasured = expect.stringContaining('bytes')
  expect(await measured('PUT', path, { status: 'PLACED' })).toEqual([409, isMeasured])
  expect(await measured('POST', `${path}/checkout`, { provider: 'pay' })).toEqual([409, isMeasured])
  expect((await send(caller, 'POST', `${path}/invoices`)).status).toBe(201)
  expect(await measured('GET', `${path}/buyer`)).toEqual([200, isMeasured])
})
