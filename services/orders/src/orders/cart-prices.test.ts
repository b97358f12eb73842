import type { ErrorBody } from '@backoffice/contracts/errors.ts'
import type { Invoice, Order } from '@backoffice/contracts/order.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { describe, expect, it, test } from 'vitest'
import { ordersService } from '../testing/orders-api.ts'
import { havePricesExpired } from './cart-prices.ts'

const { admin, send, catalog, createOrder, recordsOf, takeStatements } = await ordersService()

const put = <Body = Order>(caller: Caller, id: string, body: unknown) =>
  send<Body>(caller, 'PUT', `/v1/orders/${id}`, body)
const read = async (caller: Caller, id: string) => (await send<Order>(caller, 'GET', `/v1/orders/${id}`)).body
const change = (caller: Caller, product: string, members: object) =>
  catalog.send(caller, 'PUT', `/v1/products/${product}`, members)
const reprice = (caller: Caller, { product }: { product: string }, price: object) => change(caller, product, { price })
/** Lets hours pass for the prices of an order. */
const age = (order: string, hours: number) =>
  admin`update sales_order set priced_at = now() - make_interval(hours => ${hours}) where id = ${order}`
const refusal = ({ status, body }: { status: number; body: ErrorBody }) => [status, body.error.code, body.error.message]
const pay = (caller: Caller, id: string, amount: number) =>
  send(caller, 'POST', `/v1/orders/${id}/payments`, { amount, currency: 'EUR', reference: `${amount}` })

/** A cart of two pieces at 1,200 EUR, whose prices were looked up 25 hours ago, with a shirt at 500 in it. */
async function oldCart(caller: Caller) {
  const mug = await catalog.addVariant(caller, { price: { EUR: 1200 } })
  const shirt = await catalog.addVariant(caller, { price: { EUR: 500 } })
  const items = [
    { variant: shirt.id, quantity: 1 },
    { variant: mug.id, quantity: 2 },
  ]
  const order = await createOrder(caller, { items, total_tax: 7 })
  await age(order.id, 25)
  return { mug, shirt, order }
}

describe('the prices of a cart (OP-214)', () => {
  it('that is older than a day are looked up when it is placed: new ones are conflict, and nothing changes', async () => {
    const caller = aCaller()
    const { mug, order } = await oldCart(caller)
    await reprice(caller, mug, { EUR: 9999 })
    expect(refusal(await put<ErrorBody>(caller, order.id, { status: 'PLACED', note: 'x' }))).toEqual([
      409,
      'conflict',
      `items[1].unit_price: "${mug.sku}" was 1200 EUR in the cart and is 9999 EUR now; ` +
        'send accept_prices: true to place the order at the present prices',
    ])
    expect(await read(caller, order.id)).toEqual(order)
    expect([await catalog.stockOf(mug.id), await recordsOf(order.id)]).toEqual([100, [expect.anything()]])
  })

  it('that changed are those of the order once the client accepts them, with its totals and invoice', async () => {
    const caller = aCaller()
    const { mug, order } = await oldCart(caller)
    await reprice(caller, mug, { EUR: 9999 })
    const placed = await put(caller, order.id, { status: 'PLACED', accept_prices: true })
    const [shirt, mugs] = order.items
    expect(placed.body).toEqual({
      ...order,
      status: 'PLACED',
      items: [shirt, { ...mugs, unit_price: 9999, total_price: 19_998 }],
      subtotal_price: 20_498,
      total_price: 20_505,
    })
    expect(await read(caller, order.id)).toEqual(placed.body)
    expect((await recordsOf(order.id)).at(-1)).toMatchObject({ type: 'order.updated', data: placed.body })
    const invoices = await send<{ items: Invoice[] }>(caller, 'GET', `/v1/orders/${order.id}/invoices`)
    expect(invoices.body.items).toMatchObject([{ total: 20_505 }])
    expect(await put(caller, order.id, { status: 'PLACED', accept_prices: true })).toMatchObject({ body: placed.body })
  })

  it('are accepted by what places the order alone: elsewhere accept_prices has no effect (OP-214)', async () => {
    const caller = aCaller()
    const { order } = await oldCart(caller)
    expect((await put(caller, order.id, { accept_prices: true, note: 'x' })).status).toBe(200)
    const { items, total_price } = await read(caller, order.id)
    expect({ items, total_price }).toEqual({ items: order.items, total_price: order.total_price })
  })

  it('hold for a day, or as long as the workspace has set', async () => {
    const caller = aCaller()
    const { mug, order } = await oldCart(caller)
    await reprice(caller, mug, { EUR: 9999 })
    await age(order.id, 23)
    expect((await put({ ...caller, cartPriceSeconds: 22 * 3600 }, order.id, { status: 'PLACED' })).status).toBe(409)
    expect(await put(caller, order.id, { status: 'PLACED' })).toMatchObject({
      status: 200,
      body: { total_price: order.total_price },
    })
  })

  it('are not looked up where they were negotiated, and need no acceptance where they are the same', async () => {
    const caller = aCaller()
    const mug = await catalog.addVariant(caller, { price: { EUR: 1200 } })
    const items = [{ variant: mug.id, quantity: 2, negotiated_unit_price: 1100 }]
    const [negotiated, same] = [await createOrder(caller, { items }), (await oldCart(caller)).order]
    await reprice(caller, mug, { EUR: 9999 })
    for (const order of [negotiated, same]) {
      await age(order.id, 25)
      expect(await put(caller, order.id, { status: 'PLACED' })).toMatchObject({
        status: 200,
        body: { ...order, status: 'PLACED' },
      })
    }
  })

  it('that has a payment stay: what was paid is what was sold (OP-47)', async () => {
    const caller = aCaller()
    const [paid, deposit] = [await oldCart(caller), await oldCart(caller)]
    for (const { mug } of [paid, deposit]) await reprice(caller, mug, { EUR: 9999 })
    await pay(caller, paid.order.id, paid.order.total_price)
    expect(await read(caller, paid.order.id)).toMatchObject({ status: 'PLACED', total_price: paid.order.total_price })
    await pay(caller, deposit.order.id, 1)
    expect(await put(caller, deposit.order.id, { status: 'PLACED' })).toMatchObject({
      status: 200,
      body: { total_price: deposit.order.total_price },
    })
  })

  it('are looked up for a checkout as well', async () => {
    const caller = aCaller()
    const { mug, order } = await oldCart(caller)
    await reprice(caller, mug, { EUR: 1201 })
    const checkOut = (body: object) =>
      send<ErrorBody>(caller, 'POST', `/v1/orders/${order.id}/checkout`, { provider: 'pay', ...body })
    expect(refusal(await checkOut({}))).toEqual([409, 'conflict', expect.stringContaining('1201 EUR')])
    // No app runs here; the order is placed before it is asked.
    expect((await checkOut({ accept_prices: true })).status).toBe(503)
    expect(await read(caller, order.id)).toMatchObject({ status: 'PLACED', total_price: order.total_price + 2 })
  })

  it('in a currency that catalog has no price in any more are unprocessable, and so is a discount above them', async () => {
    const caller = aCaller()
    const { mug, order } = await oldCart(caller)
    await reprice(caller, mug, { USD: 1200 })
    const place = () => put<ErrorBody>(caller, order.id, { status: 'PLACED', accept_prices: true })
    expect(refusal(await place())).toEqual([
      422,
      'unprocessable',
      `items[1].variant: "${mug.sku}" has no price in EUR; give it one, or leave the item out`,
    ])
    await reprice(caller, mug, { EUR: 0 })
    await admin`
      update sales_order set total_discount = 2000, total_price = total_price - 2000 where id = ${order.id}`
    expect(refusal(await place())).toEqual([422, 'unprocessable', expect.stringContaining('total_discount: ')])
  })

  it('that is invoiced stay, also when the invoice is issued while they are looked up (OP-45)', async () => {
    const caller = aCaller()
    const { mug, order } = await oldCart(caller)
    await send(caller, 'POST', `/v1/orders/${order.id}/invoices`)
    await reprice(caller, mug, { EUR: 9999 })
    expect(await put(caller, order.id, { status: 'PLACED', accept_prices: true })).toMatchObject({
      status: 200,
      body: { total_price: order.total_price },
    })
    const other = await oldCart(caller)
    await reprice(caller, other.mug, { EUR: 9999 })
    const placing = admin.begin(async (tx) => {
      await tx`select from sales_order where id = ${other.order.id} for update`
      const answer = put(caller, other.order.id, { status: 'PLACED', accept_prices: true })
      await eventually('its stock is taken', async () => (await catalog.stockOf(other.mug.id)) === 98)
      await tx`
        insert into invoice (workspace_id, order_id, id, number, currency, total, status, created_at)
        values (${caller.workspaceId}, ${other.order.id}, gen_random_uuid(), 9, 'EUR', 1, 'ISSUED', now())`
      return { answer }
    })
    expect(await (await placing).answer).toMatchObject({ status: 200, body: { total_price: other.order.total_price } })
  })

  it('are those of the moment in which its lines were edited, also when these are the same (OP-208)', async () => {
    const caller = aCaller()
    const { mug, shirt, order } = await oldCart(caller)
    const items = [
      { variant: shirt.id, quantity: 1 },
      { variant: mug.id, quantity: 2 },
    ]
    expect((await put(caller, `${order.id}/cart`, { items })).body).toEqual(order)
    await reprice(caller, mug, { EUR: 9999 })
    expect(await put(caller, order.id, { status: 'PLACED' })).toMatchObject({
      status: 200,
      body: { total_price: order.total_price },
    })
  })

  it('of all items cost two more statements, which write them', async () => {
    const statements = async (count: number, isChanged: boolean) => {
      const caller = aCaller()
      const variants = await Promise.all(Array.from({ length: count }, () => catalog.addVariant(caller)))
      const order = await createOrder(caller, { items: variants.map(({ id }) => ({ variant: id, quantity: 1 })) })
      await age(order.id, 25)
      if (isChanged) for (const variant of variants) await reprice(caller, variant, { EUR: 7 })
      takeStatements()
      const { body } = await put(caller, order.id, { status: 'PLACED', accept_prices: true })
      expect(body.total_price).toBe(count * (isChanged ? 7 : 1000))
      return takeStatements().length
    }
    const few = await statements(1, true)
    expect([await statements(9, true), await statements(9, false)]).toEqual([few, few - 2])
  })
})

test('prices count from the creation of an order until they are looked up, to the second (OP-214)', () => {
  const at = (second: number) => new Date(second * 1000)
  const cart = { status: 'CART', paid: 0, pricedAt: null, createdAt: at(0) } as const
  const isExpired = (order: object, second: number, seconds?: number) =>
    havePricesExpired({ ...cart, ...order }, at(second), seconds)
  expect([isExpired({}, 86_399), isExpired({}, 86_400)]).toEqual([false, true])
  expect([isExpired({ pricedAt: at(9) }, 86_400), isExpired({ pricedAt: at(9) }, 86_409)]).toEqual([false, true])
  expect([isExpired({}, 0, 0), isExpired({}, 9, 10)]).toEqual([true, false])
  expect([isExpired({ status: 'PLACED' }, 86_400), isExpired({ paid: 1 }, 86_400)]).toEqual([false, false])
})

describe('a product that is ARCHIVED (OP-213)', () => {
  it('refuses to place its carts of any age, naming the items; nothing changes', async () => {
    const caller = aCaller()
    const [young, old] = [await oldCart(caller), await oldCart(caller)]
    await age(young.order.id, 0)
    for (const { mug, order } of [young, old]) {
      await change(caller, mug.product, { status: 'ARCHIVED' })
      await reprice(caller, mug, { EUR: 9999 })
      expect(refusal(await put<ErrorBody>(caller, order.id, { status: 'PLACED', accept_prices: true }))).toEqual([
        422,
        'unprocessable',
        `items[1].variant: "${mug.sku}" cannot be ordered while its product is ARCHIVED; make the product ACTIVE, or leave the item out`,
      ])
      expect(await read(caller, order.id)).toEqual(order)
    }
    expect(await admin`select from reservation where workspace_id = ${caller.workspaceId}`).toHaveLength(0)
  })

  it('leaves a paid cart at CART for the merchant, with the reason, until it is ACTIVE again (OP-47)', async () => {
    const caller = aCaller()
    const { mug, order } = await oldCart(caller)
    await change(caller, mug.product, { status: 'ARCHIVED' })
    await pay(caller, order.id, order.total_price)
    expect((await send(caller, 'GET', `/v1/orders/${order.id}/placement`)).body).toMatchObject({
      state: 'REFUSED',
      reason: expect.stringContaining('ARCHIVED'),
    })
    await reprice(caller, mug, { EUR: 9999 })
    await change(caller, mug.product, { status: 'ACTIVE' })
    expect(await put(caller, order.id, { status: 'PLACED' })).toMatchObject({
      status: 200,
      body: { status: 'PLACED', total_price: order.total_price },
    })
  })

  it('while 40 carts are placed at once refuses all that begin after it, and each that is placed has its stock', async () => {
    const caller = aCaller()
    const mug = await catalog.addVariant(caller)
    const carts = await Promise.all(
      Array.from({ length: 40 }, () => createOrder(caller, { items: [{ variant: mug.id, quantity: 1 }] })),
    )
    let isArchived = false
    const place = async ({ id }: Order) => {
      const beganAfter = isArchived
      const { status } = await put(caller, id, { status: 'PLACED' })
      return { status, beganAfter }
    }
    /** Places a fourth of the carts, one after the other. */
    const buyer = async (first: number) => {
      const placings: Awaited<ReturnType<typeof place>>[] = []
      for (const cart of carts.filter((_, index) => index % 4 === first)) placings.push(await place(cart))
      return placings
    }
    const archive = async () => {
      while ((await catalog.stockOf(mug.id)) > 90);
      await change(caller, mug.product, { status: 'ARCHIVED' })
      isArchived = true
    }
    const [placings] = await Promise.all([Promise.all([0, 1, 2, 3].map(buyer)), archive()])
    const statuses = (beganAfter: boolean) =>
      placings.flat().flatMap((placing) => (placing.beganAfter === beganAfter ? [placing.status] : []))
    expect(new Set(statuses(true))).toEqual(new Set([422]))
    const placed = statuses(false).filter((status) => status === 200).length
    expect(placed).toBeGreaterThanOrEqual(10)
    expect(await catalog.stockOf(mug.id)).toBe(100 - placed)
  })
})
