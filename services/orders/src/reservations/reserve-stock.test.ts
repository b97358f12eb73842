import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Order } from '@backoffice/contracts/order.ts'
import type { Caller, RequestContext } from '@backoffice/http/internal-token.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { Tasks } from '@backoffice/runtime/tasks.ts'
import { aCaller, testSigner } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { untilServed } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { describe, expect, it } from 'vitest'
import { CatalogClient } from '../catalog/catalog-client.ts'
import { answeringServer, forwardTo, hangUp, json, loseAnswerOf } from '../testing/answering-server.ts'
import { ordersService } from '../testing/orders-api.ts'
import { PATIENT } from '../testing/test-catalog.ts'
import { measureReservations } from './measure-reservations.ts'
import { releaseBatch } from './release-abandoned.ts'
import { reserveStock, returnStock } from './reserve-stock.ts'

const { admin, db, appUrl, workerUrl, catalog, replica } = await ordersService()
const logger = createLogger('test', 'silent')
const worker = openDatabase({ url: workerUrl, applicationName: 'test worker' })
whenDone(() => worker.stop?.())
/** Unless given a catalog, it gets the stock back once it consumes the releases. */
const sweep = async (
  of: Pick<CatalogClient, 'releaseStock'> = { releaseStock: () => Promise.reject(new Error('away')) },
) => {
  const asking = new Tasks<string>()
  const released = await releaseBatch({ db, worker, catalog: of, logger }, asking)
  await asking.ended()
  return released
}

/** Stands between orders and the catalog, so that a test can lose answers of the catalog. */
const between = await answeringServer()
const forward = forwardTo(catalog.url)
between.answer = forward
const client = new CatalogClient(between.url, testSigner(), PATIENT)
whenDone(() => client.stop?.())
const send = replica(client)

const place = (caller: Caller, variant: string, members: Record<string, unknown> = {}, headers = {}) =>
  send<Order & { error: { code: string; message: string } }>(
    caller,
    'POST',
    '/v1/orders',
    { currency: 'EUR', items: [{ variant, quantity: 1 }], status: 'PLACED', ...members },
    headers,
  )
const contextOf = (caller: Caller): RequestContext => ({ ...caller, requestId: randomUUID(), traceparent: 'trace' })

const reservationsOf = async ({ workspaceId }: Caller) => [
  ...(await admin<{ id: string; order_id: string; state: string }[]>`
    select id, order_id, state from reservation where workspace_id = ${workspaceId}`),
]
const releasesOf = async ({ workspaceId }: Caller) =>
  (
    await admin<{ key: string; payload: { order: string } }[]>`
      select key, payload from outbox where workspace_id = ${workspaceId} and type = 'reservation.released'`
  ).map(({ key, payload }) => {
    expect(payload).toEqual({ order: key })
    return key
  })
/** Does what catalog does with the published releases. */
const consumeReleases = async (caller: Caller) => {
  for (const order of await releasesOf(caller)) await catalog.send(caller, 'POST', '/internal/stock/release', { order })
}
const reservationsAtCatalog = async ({ workspaceId }: Caller) =>
  (await catalog.admin`select state from stock_reservation where workspace_id = ${workspaceId}`).map(
    ({ state }) => state,
  )
const ordersOf = async ({ workspaceId }: Caller) =>
  (await admin`select from sales_order where workspace_id = ${workspaceId}`).length
const makeOlder = ({ workspaceId }: Caller, by = '16 seconds') => admin`
  update reservation set created_at = created_at - ${by}::interval where workspace_id = ${workspaceId}`

describe('A reservation is held by a placed order, or leaves nothing behind', () => {
  it('a placed order holds it', async () => {
    const caller = aCaller()
    const { id } = await catalog.addVariant(caller, { stock: 3 })
    const { body } = await place(caller, id)
    expect(await reservationsOf(caller)).toMatchObject([{ order_id: body.id, state: 'HELD' }])
    expect([await reservationsAtCatalog(caller), await releasesOf(caller)]).toEqual([['TAKEN'], []])
  })

  it('an order of variants by their ids asks catalog once, with its prices of that moment', async () => {
    const caller = aCaller()
    const { id, sku } = await catalog.addVariant(caller, { stock: 3, price: { EUR: 700 } })
    const asked: (string | undefined)[] = []
    const noting: typeof forward = (request, ...others) => {
      asked.push(request.url)
      return forward(request, ...others)
    }
    between.next.push(noting, noting)
    expect(await place(caller, id)).toMatchObject({
      status: 201,
      body: { items: [{ sku, title: 'Shirt', unit_price: 700 }], total_price: 700 },
    })
    between.next.splice(0)
    expect(asked).toEqual(['/internal/stock/take'])
  })

  it.each([
    ['without a price in its currency', { price: { EUR: 1 } }, { currency: 'USD' }, 'has no price in USD'],
    ['that cannot be ordered', { status: 'HIDDEN' }, {}, 'cannot be ordered while its product is HIDDEN'],
    ['with a discount above its subtotal', {}, { total_discount: 1001 }, 'must not be above the subtotal of 1000'],
  ])('an order %s moves no stock', async (_, product, form, message) => {
    const caller = aCaller()
    const { id } = await catalog.addVariant(caller, { stock: 3, ...product })
    const { status, body } = await place(caller, id, form)
    expect([status, body.error.message]).toEqual([422, expect.stringContaining(message)])
    expect([await reservationsAtCatalog(caller), await releasesOf(caller), await reservationsOf(caller)]).toEqual([
      [],
      [],
      [],
    ])
  })

  it('a form that its workspace refuses moves no stock either', async () => {
    const caller = aCaller()
    const { id } = await catalog.addVariant(caller)
    await send(caller, 'PUT', '/v1/orders/form', { schema: { required: ['gift'] } }, {})
    expect((await place(caller, id)).body.error.message).toContain('gift')
    expect([await reservationsAtCatalog(caller), await releasesOf(caller), await reservationsOf(caller)]).toEqual([
      [],
      [],
      [],
    ])
  })

  it.each([
    ['a customer that is not there', { id: randomUUID() }, 'has no customer'],
    ['a new customer without a name', { email: 'new@example.com' }, 'is required for a new customer'],
  ])('neither does a form with %s, priced before the take or by it', async (_, customer, message) => {
    const caller = aCaller()
    const { id: variant, sku } = await catalog.addVariant(caller)
    for (const line of [{ variant }, { sku }]) {
      const { status, body } = await place(caller, '', { items: [{ ...line, quantity: 1 }], customer })
      expect([status, body.error.message]).toEqual([422, expect.stringContaining(message)])
    }
    expect([await reservationsAtCatalog(caller), await releasesOf(caller)]).toEqual([[], []])
  })

  it('what is wrong in the form of a cart is told also while catalog does not answer', async () => {
    const caller = aCaller()
    const { id } = await catalog.addVariant(caller)
    await send(caller, 'PUT', '/v1/orders/form', { schema: { required: ['gift'] } }, {})
    between.next.push(json(500, {}))
    const { status, body } = await place(caller, id, { status: 'CART' })
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('gift')])
  })

  it('short stock is a conflict in the words of the order, and neither orders nor catalog keeps anything (OP-44)', async () => {
    const caller = aCaller()
    const [mug, cup] = [await catalog.addVariant(caller), await catalog.addVariant(caller, { stock: 1 })]
    const items = [
      { variant: mug.id, quantity: 1 },
      { sku: cup.sku, quantity: 2 },
    ]
    const { status, body } = await place(caller, '', { items })
    expect([status, body.error.code, body.error.message]).toEqual([
      409,
      'conflict',
      `items[1].quantity: only 1 of "${cup.sku}" left; order 1 at most`,
    ])
    expect([await reservationsOf(caller), await releasesOf(caller), await ordersOf(caller)]).toEqual([[], [], 0])
    expect([await reservationsAtCatalog(caller), await catalog.stockOf(mug.id)]).toEqual([[], 100])
  })

  it('a refusal names the items, whatever their SKUs say', async () => {
    const caller = aCaller()
    const sku = `"; lines[7].quantity: ${randomUUID()}`
    const [odd, cup] = [
      await catalog.addVariant(caller, { sku, stock: 1 }),
      await catalog.addVariant(caller, { stock: 0 }),
    ]
    const items = [
      { variant: cup.id, quantity: 1 },
      { variant: odd.id, quantity: 2 },
    ]
    const { status, body } = await place(caller, '', { items })
    expect(status).toBe(409)
    // In the order of the variants' ids.
    expect(
      body.error.message
        .replace(/^items/, '')
        .split('; items')
        .toSorted(),
    ).toEqual([
      `[0].quantity: only 0 of "${cup.sku}" left; leave it out, or wait for stock`,
      `[1].quantity: only 1 of "${sku}" left; order 1 at most`,
    ])
  })

  it('a variant that is deleted between its reading and its taking is unprocessable', async () => {
    const caller = aCaller()
    const mug = await catalog.addVariant(caller)
    between.next.push(forward, async (...request) => {
      await catalog.send(caller, 'DELETE', `/v1/products/${mug.product}`)
      await forward(...request)
    })
    const { status, body } = await place(caller, '', { items: [{ sku: mug.sku, quantity: 1 }] })
    expect([status, body.error.message]).toEqual([
      422,
      `items[0].variant: this workspace has no variant with the id "${mug.id}"; correct it, or leave the item out`,
    ])
    expect([await reservationsOf(caller), await releasesOf(caller)]).toEqual([[], []])
  })

  it('a take whose answer is lost is repeated, and takes once', async () => {
    const caller = aCaller()
    const { id } = await catalog.addVariant(caller, { stock: 3 })
    between.next.push(loseAnswerOf(catalog.url))
    expect((await place(caller, id)).status).toBe(201)
    expect([await catalog.stockOf(id), await reservationsAtCatalog(caller)]).toEqual([2, ['TAKEN']])
  })

  it.each([
    ['at once when it answers', forward],
    ['once it consumes the release, when it does not answer', hangUp],
  ])(
    'a take without an answer is service_unavailable, creates no order, and catalog gives back %s',
    async (_, answerRelease) => {
      const caller = aCaller()
      const { id } = await catalog.addVariant(caller, { stock: 3 })
      const lose = loseAnswerOf(catalog.url)
      let asked = 0
      between.next.push(lose, lose)
      between.answer = (request, ...rest) => {
        const isRelease = request.url === '/internal/stock/release'
        if (isRelease) asked++
        return (isRelease ? answerRelease : forward)(request, ...rest)
      }
      whenDone(() => {
        between.answer = forward
      })
      const { status, body, headers } = await place(caller, id)
      expect([status, body.error.code, headers['retry-after']]).toEqual([503, 'service_unavailable', '1'])
      expect([await reservationsOf(caller), await ordersOf(caller), (await releasesOf(caller)).length]).toEqual([
        [],
        0,
        1,
      ])
      const isAway = answerRelease === hangUp
      await eventually('catalog is asked', () => asked === (isAway ? 2 : 1))
      if (isAway) {
        expect(await catalog.stockOf(id)).toBe(2)
        await consumeReleases(caller)
      }
      await eventually('the stock is back', async () => (await catalog.stockOf(id)) === 3)
      expect(await reservationsAtCatalog(caller)).toEqual(['RELEASED'])
    },
  )

  it('short stock after an attempt without an answer is released too, because that attempt may come late', async () => {
    const caller = aCaller()
    const { id, product } = await catalog.addVariant(caller, { stock: 0 })
    between.next.push((request) => request.socket.destroy())
    expect((await place(caller, id)).status).toBe(409)
    const [order = ''] = await releasesOf(caller)
    await consumeReleases(caller)
    await catalog.send(caller, 'PUT', `/v1/products/${product}`, { stock: 5 })
    const late = catalog.send(caller, 'POST', '/internal/stock/take', { order, lines: [{ variant: id, quantity: 1 }] })
    await expect(late).rejects.toThrow('was released')
    expect(await catalog.stockOf(id)).toBe(5)
  })

  it.each([
    ['with its answer', [forward]],
    ['once catalog consumes the release, when it does not answer', [hangUp, hangUp]],
  ])('an order that is refused after the take gives the stock back %s', async (_, answers) => {
    const caller = aCaller()
    const { id } = await catalog.addVariant(caller, { stock: 3 })
    const { body: customer } = await send<{ id: string }>(caller, 'POST', '/v1/customers', { firstname: 'Ada' })
    const eraseAndForward: typeof forward = async (...request) => {
      await send(caller, 'DELETE', `/v1/customers/${customer.id}`)
      await forward(...request)
    }
    between.next.push(eraseAndForward, ...answers)
    expect((await place(caller, id, { customer: { id: customer.id } })).status).toBe(422)
    expect([await catalog.stockOf(id), between.next.splice(0)]).toEqual([answers.includes(hangUp) ? 2 : 3, []])
    await consumeReleases(caller)
    expect([await catalog.stockOf(id), await reservationsOf(caller), await ordersOf(caller)]).toEqual([3, [], 0])
  })

  it('an order whose lines are edited while it is placed does not need the stock of both', async () => {
    const caller = aCaller()
    const { id: variant } = await catalog.addVariant(caller, { stock: 3 })
    const { body: order } = await place(caller, variant, { status: 'CART', items: [{ variant, quantity: 3 }] })
    const put = (path: string, members: object) => send<Order>(caller, 'PUT', path, members, {})
    between.next.push(async (...request) => {
      await put(`/v1/orders/${order.id}/cart`, { items: [{ variant, quantity: 2 }] })
      await forward(...request)
    })
    const placed = await put(`/v1/orders/${order.id}`, { status: 'PLACED' })
    expect(placed).toMatchObject({ status: 200, body: { items: [{ quantity: 2 }] } })
    expect(await catalog.stockOf(variant)).toBe(1)
  })

  it('requests with one Idempotency-Key at once place one order, and the reservations of the others are released (OP-08)', async () => {
    const caller = aCaller()
    const { id } = await catalog.addVariant(caller, { stock: 100 })
    const headers = { 'idempotency-key': randomUUID() }
    const answers = await Promise.all(Array.from({ length: 8 }, () => place(caller, id, {}, headers)))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1)
    await consumeReleases(caller)
    expect([await catalog.stockOf(id), await ordersOf(caller)]).toEqual([99, 1])
    expect((await reservationsOf(caller)).map(({ state }) => state)).toEqual(['HELD'])
  })

  it('a request that finds its stock taken by itself, sent twice at once, gets the answer of the first (OP-08)', async () => {
    const caller = aCaller()
    const { id } = await catalog.addVariant(caller, { stock: 1 })
    const headers = { 'idempotency-key': randomUUID() }
    const first = Promise.withResolvers<string>()
    between.next.push(async (...request) => {
      first.resolve((await place(caller, id, {}, headers)).body.id)
      await forward(...request)
    })
    const { status, body } = await place(caller, id, {}, headers)
    expect([status, body.id]).toEqual([201, await first.promise])
    expect([await ordersOf(caller), await releasesOf(caller)]).toEqual([1, []])
  })

  it.each([
    ['is refused', forward, []],
    ['has no answer', (request: IncomingMessage) => request.socket.destroy(), ['released']],
  ])(
    'a request whose take %s is answered by the order that a concurrent one has placed meanwhile (OP-44)',
    async (_, answer, released) => {
      const caller = aCaller()
      const { id: variant } = await catalog.addVariant(caller, { stock: 1 })
      const { body: order } = await place(caller, variant, { status: 'CART' })
      const put = (note: string) => send<Order>(caller, 'PUT', `/v1/orders/${order.id}`, { status: 'PLACED', note }, {})
      between.next.push(async (...request) => {
        expect((await put('first')).body).toMatchObject({ status: 'PLACED', note: 'first' })
        between.next.push(answer)
        await answer(...request)
      })
      expect(await put('second')).toMatchObject({ status: 200, body: { status: 'PLACED', note: 'second' } })
      between.next.splice(0)
      expect((await reservationsOf(caller)).map(({ state }) => state)).toEqual(['HELD'])
      expect((await releasesOf(caller)).map(() => 'released')).toEqual(released)
      await consumeReleases(caller)
      expect(await catalog.stockOf(variant)).toBe(0)
    },
  )

  it('the work sees the refusal of a take where it would hold the stock, and only there', async () => {
    const caller = aCaller()
    const { id: variant } = await catalog.addVariant(caller, { stock: 1 })
    const context = contextOf(caller)
    const order = { id: randomUUID(), lines: [{ variant, quantity: 2 }] }
    const hold = reserveStock(db, client, logger)(context, order, (hold) => db.inWorkspace(context, hold))
    await expect(hold).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('only 1 of') })
    expect(await reserveStock(db, client, logger)(context, order, async () => 'done already')).toBe('done already')
    expect([await reservationsOf(caller), await releasesOf(caller)]).toEqual([[], []])
  })
})

describe('What a process leaves behind is released after 15 s of the database’s clock (OP-136)', () => {
  /** Takes one of a variant and loses PostgreSQL: the row stays at TAKING. */
  const leave = async (caller: Caller, variant: string) => {
    const gone = openDatabase({ url: appUrl, applicationName: 'gone' })
    const lines = [{ variant, quantity: 1 }]
    const placing = reserveStock(gone, client, logger)(contextOf(caller), { id: randomUUID(), lines }, async () => {
      await gone.stop?.()
      throw new Error('gone')
    })
    await expect(placing).rejects.toThrow('gone')
  }

  it('a reservation is released once by two replicas at once, and a younger or held one is not', async () => {
    const [caller, other] = [aCaller(), aCaller({ livemode: false })]
    const [mug, cup] = [await catalog.addVariant(caller), await catalog.addVariant(other)]
    await Promise.all(Array.from({ length: 5 }, () => leave(caller, mug.id)))
    await leave(other, cup.id)
    await place(caller, mug.id)
    await makeOlder(caller)
    await makeOlder(other)
    await leave(other, cup.id)
    await Promise.all(Array.from({ length: 4 }, () => sweep()))
    expect(await sweep()).toBe(0)
    expect([await releasesOf(caller), await releasesOf(other)].map(({ length }) => length)).toEqual([5, 1])
    expect((await reservationsOf(caller)).map(({ state }) => state)).toEqual(['HELD'])
    expect((await reservationsOf(other)).map(({ state }) => state)).toEqual(['TAKING'])
    const [record] = await admin`
      select livemode, traceparent from outbox where workspace_id = ${other.workspaceId} and type = 'reservation.released'`
    expect(record).toMatchObject({ livemode: false, traceparent: expect.stringMatching(/^00-/) })
    await consumeReleases(caller)
    await consumeReleases(other)
    expect([await catalog.stockOf(mug.id), await catalog.stockOf(cup.id)]).toEqual([99, 99])
  })

  it('the stock is back at once when catalog answers, however late the record is', async () => {
    const caller = aCaller()
    const { id } = await catalog.addVariant(caller, { stock: 3 })
    await Promise.all([leave(caller, id), leave(caller, id)])
    await makeOlder(caller)
    await sweep(client)
    expect([await catalog.stockOf(id), (await releasesOf(caller)).length]).toEqual([3, 2])
  })

  it('also one of a time when that clock was an hour ahead (OP-302)', async () => {
    const caller = aCaller()
    await leave(caller, (await catalog.addVariant(caller)).id)
    await makeOlder(caller, '-1 hour')
    await sweep()
    expect(await reservationsOf(caller)).toEqual([])
  })

  it('a workspace with thousands of them does not keep those of another waiting', async () => {
    const [many, few] = [aCaller(), aCaller()]
    await admin`
      insert into reservation (workspace_id, id, order_id, state, livemode, created_at)
      select ${many.workspaceId}, gen_random_uuid(), gen_random_uuid(), 'TAKING', true, now() - interval '1 hour'
      from generate_series(1, 3000)`
    await leave(few, (await catalog.addVariant(few)).id)
    await makeOlder(few)
    await sweep()
    expect((await releasesOf(few)).length).toBe(1)
    while ((await sweep()) > 0);
    expect((await releasesOf(many)).length).toBe(3000)
  })

  it('a process that is paused between take and hold does not place the order', async () => {
    const caller = aCaller()
    const { id } = await catalog.addVariant(caller, { stock: 3 })
    const context = contextOf(caller)
    const lines = [{ variant: id, quantity: 1 }]
    const placing = reserveStock(db, client, logger)(context, { id: randomUUID(), lines }, async (hold) => {
      await makeOlder(caller)
      expect(await sweep()).toBe(1)
      return db.inWorkspace(context, hold)
    })
    await expect(placing).rejects.toMatchObject({ code: 'service_unavailable' })
    await consumeReleases(caller)
    expect([await catalog.stockOf(id), await reservationsOf(caller)]).toEqual([3, []])
    expect((await releasesOf(caller)).length).toBe(1)
  })

  it('a take that arrives after the release is service_unavailable, and takes nothing', async () => {
    const caller = aCaller()
    const { id } = await catalog.addVariant(caller, { stock: 3 })
    between.next.push(async (...request) => {
      await makeOlder(caller)
      await sweep()
      await consumeReleases(caller)
      await forward(...request)
    })
    expect((await place(caller, id)).status).toBe(503)
    expect([await catalog.stockOf(id), await ordersOf(caller), await reservationsOf(caller)]).toEqual([3, 0, []])
  })

  it('an order whose connection is lost does not wait for the release, which comes afterwards', async () => {
    const caller = aCaller()
    const { id: variant } = await catalog.addVariant(caller, { stock: 3 })
    const blocked = await admin.reserve()
    const lines = [{ variant, quantity: 1 }]
    const placing = reserveStock(db, client, logger)(contextOf(caller), { id: randomUUID(), lines }, async () => {
      await blocked`begin`
      await blocked`select from reservation where workspace_id = ${caller.workspaceId} for update`
      throw Object.assign(new Error('lost'), { code: 'CONNECTION_CLOSED' })
    })
    await expect(placing).rejects.toThrow('lost')
    expect(await reservationsOf(caller)).toMatchObject([{ state: 'TAKING' }])
    await blocked`commit`
    blocked.release()
    await eventually('the stock comes back', async () => (await catalog.stockOf(variant)) === 3)
  })

  it('a reservation that a transaction is holding is not released', async () => {
    const caller = aCaller()
    const { id } = await catalog.addVariant(caller)
    const [order, context] = [randomUUID(), contextOf(caller)]
    const lines = [{ variant: id, quantity: 1 }]
    await reserveStock(db, client, logger)(context, { id: order, lines }, async (hold) => {
      await makeOlder(caller)
      await db.inWorkspace(context, async (tx) => {
        await hold(tx)
        expect(await sweep()).toBe(0)
      })
    })
    expect(await reservationsOf(caller)).toMatchObject([{ order_id: order, state: 'HELD' }])
    expect(await releasesOf(caller)).toEqual([])
  })
})

it('200 orders at once over 10 units sell exactly 10 (OP-44)', async () => {
  const caller = aCaller()
  const { id, sku } = await catalog.addVariant(caller, { stock: 10 })
  const answers = await Promise.all(Array.from({ length: 200 }, () => untilServed(() => place(caller, id))))
  const refused = answers.filter(({ status }) => status === 409)
  expect([answers.filter(({ status }) => status === 201).length, refused.length]).toEqual([10, 190])
  expect(new Set(refused.map(({ body }) => body.error.message))).toContain(
    `items[0].quantity: only 0 of "${sku}" left; leave it out, or wait for stock`,
  )
  expect([await catalog.stockOf(id), await ordersOf(caller), (await reservationsOf(caller)).length]).toEqual([
    0, 10, 10,
  ])
})

it.each([
  ['', '1 hour'],
  [' from a time when the clock was ahead', '-1 hour'],
])('reservations that are under way%s are measured, those of placed orders are not', async (_, age) => {
  await admin`delete from reservation`
  await admin`
    insert into reservation (workspace_id, id, order_id, state, livemode, created_at)
    select uuidv7(), uuidv7(), uuidv7(), state, true, now() - ${age}::interval
    from unnest(array['TAKING', 'TAKING', 'HELD']) as state`
  const measuring = measureReservations(worker, logger)
  await measuring.start?.()
  await measuring.stop?.()
  const text = await metricsText()
  expect(text).toMatch(/^orders_reservations_taking 2$/m)
  expect(Number(/^orders_oldest_taking_seconds (\S+)$/m.exec(text)?.[1])).toBeGreaterThan(3500)
  await admin`delete from reservation`
})

it('releases that fail at once are logged and counted by step, and the stock comes back (OP-96, OP-136)', async () => {
  const caller = aCaller()
  const { id: variant } = await catalog.addVariant(caller, { stock: 3 })
  const logged: object[] = []
  const noting = Object.assign(createLogger('test', 'silent'), { warn: (line: object) => logged.push(line) })
  const counted = async (step: string) =>
    Number(
      new RegExp(`^orders_release_failures_total\\{step="${step}"\\} (\\d+)$`, 'm').exec(await metricsText())?.[1] ?? 0,
    )
  const [writes, calls] = [await counted('write'), await counted('call')]

  const gone = openDatabase({ url: appUrl, applicationName: 'gone' })
  const lines = [{ variant, quantity: 1 }]
  const placing = reserveStock(gone, client, noting)(contextOf(caller), { id: randomUUID(), lines }, async () => {
    await gone.stop?.()
    throw new Error('gone')
  })
  await expect(placing).rejects.toThrow('gone')
  const [left] = await reservationsOf(caller)
  await makeOlder(caller)
  await sweep(client)

  const { body: order } = await place(caller, variant)
  const [held] = await reservationsOf(caller)
  const away = new CatalogClient('http://127.0.0.1:1', testSigner())
  whenDone(() => away.stop?.())
  await returnStock({ catalog: away, logger: noting }, contextOf(caller), held?.id ?? '')
  expect(logged).toEqual([
    { err: expect.any(Error), workspace_id: caller.workspaceId, reservation: left?.id, step: 'write' },
    { err: expect.any(Error), workspace_id: caller.workspaceId, reservation: held?.id, step: 'call' },
  ])
  const cancelled = await replica(away)(caller, 'PUT', `/v1/orders/${order.id}`, { status: 'CANCELLED' })
  expect([cancelled.status, await counted('write'), await counted('call')]).toEqual([200, writes + 1, calls + 2])
  await consumeReleases(caller)
  expect(await catalog.stockOf(variant)).toBe(3)
})
