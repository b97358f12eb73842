import type { Order } from '@backoffice/contracts/order.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { type Database, openDatabase } from '@backoffice/postgres/database.ts'
import { MEASURED_ROWS } from '@backoffice/postgres/measure-rows.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { Tasks } from '@backoffice/runtime/tasks.ts'
import { aCaller, testSigner } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { untilServed } from '@backoffice/testing/service-client.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it, vi } from 'vitest'
import { CatalogClient } from '../catalog/catalog-client.ts'
import { checkOrders } from '../check/check-orders.ts'
import type { Finding } from '../check/order-findings.ts'
import { takenStock } from '../check/taken-stock.ts'
import { placeWithStock } from '../orders/place-order.ts'
import { POOLS } from '../pools.ts'
import { releaseBatch } from '../reservations/release-abandoned.ts'
import { reserveStock } from '../reservations/reserve-stock.ts'
import { answeringServer, forwardTo, hangUp, loseAnswerOf } from '../testing/answering-server.ts'
import { ordersService } from '../testing/orders-api.ts'
import { PATIENT } from '../testing/test-catalog.ts'
import { measurePlacements } from './measure-placements.ts'
import { placePaidOrders } from './place-paid-orders.ts'

const { admin, appUrl, catalog, createOrder, db, recordsOf, replica, send, workerUrl } = await ordersService()

/** A replica that cannot connect to catalog. */
const withoutCatalog = replica(new CatalogClient('http://127.0.0.1:1', testSigner()))
const logger = createLogger('test', 'silent')

const { role: _, settings, ...limits } = POOLS.placements
const pool = (url: string, beginWithinMs = 5000) =>
  openDatabase({ url, applicationName: 'test placements', beginWithinMs, ...limits, transactionSettings: settings })

const worker = pool(workerUrl)
whenDone(() => worker.stop?.())

/** The worker of a replica, which places orders over the connections of `placing`. */
function aWorker(placing?: Database) {
  const [db, worker] = [pool(appUrl), pool(workerUrl)]
  const client = new CatalogClient(catalog.url, testSigner(), PATIENT)
  const by = placing ?? db
  const placements = placePaidOrders({
    db,
    worker,
    logger,
    place: placeWithStock(by, client, reserveStock(by, client, logger)),
  })
  whenDone(async () => {
    await placements.stop?.()
    await Promise.all([client.stop(), db.stop?.(), worker.stop?.()])
  })
  return placements
}

const pay = (caller: Caller, { id }: Pick<Order, 'id'>, by = send) =>
  by(caller, 'POST', `/v1/orders/${id}/payments`, { amount: 2000, currency: 'EUR', reference: 'p1' })
const read = async (caller: Caller, { id }: Pick<Order, 'id'>) =>
  (await send<Order>(caller, 'GET', `/v1/orders/${id}`)).body
const placementOf = (caller: Caller, { id }: Pick<Order, 'id'>) => send(caller, 'GET', `/v1/orders/${id}/placement`)
/** As if the pause were over. */
const isDue = ({ id }: Pick<Order, 'id'>) => admin`
  update placement set next_attempt_at = now(), short_since = short_since - interval '20 seconds'
  where order_id = ${id} and next_attempt_at is not null`
const isPlaced = (caller: Caller, order: Pick<Order, 'id'>) =>
  eventually('it is placed', async () => (await read(caller, order)).status === 'PLACED')

/** An order at CART, of two pieces, and its variant. */
async function cart(caller: Caller, stock: number) {
  const variant = await catalog.addVariant(caller, { stock })
  return { ...(await createOrder(caller, { items: [{ variant: variant.id, quantity: 2 }] })), variant }
}

const findings = async ({ workspaceId }: Caller) => {
  const found: Finding[] = []
  const orders = openDatabase({ url: workerUrl, applicationName: 'check', poolSize: 1 })
  const taken = takenStock(catalog.url, testSigner())
  await checkOrders(orders.sql, taken.read, (finding) => found.push(finding))
  await Promise.all([orders.stop?.(), taken.stop()])
  return found.filter(({ workspace }) => workspace === workspaceId)
}

it('a paid order whose catalog is away is placed later, and says meanwhile why it is not (OP-47)', async () => {
  const caller = aCaller()
  const order = await cart(caller, 3)
  expect((await pay(caller, order, withoutCatalog)).status).toBe(201)
  const waiting = await placementOf(caller, order)
  expect(waiting).toMatchObject({
    status: 200,
    body: {
      order: order.id,
      state: 'WAITING',
      reason: 'The service is unavailable for the moment; try again',
      attempts: 1,
      next_attempt_at: expect.any(String),
    },
  })
  expect((await placementOf(aCaller(), order)).status).toBe(404)
  expect(await findings(caller)).toMatchObject([{ finding: 'paid order at CART', order: order.id, tooYoung: true }])
  for (const ago of ['-1 hour', '2 hours']) {
    await admin`update sales_order set updated_at = updated_at - ${ago}::interval where id = ${order.id}`
    expect(await findings(caller)).toMatchObject([{ finding: 'paid order at CART', order: order.id, tooYoung: false }])
  }

  await aWorker().start?.()
  await isDue(order)
  await isPlaced(caller, order)
  expect(await catalog.stockOf(order.variant.id)).toBe(1)
  expect((await placementOf(caller, order)).status).toBe(404)
  expect((await recordsOf(order.id)).map(({ type }) => type)).toEqual([
    'order.created',
    'order.updated',
    'order.paid',
    'invoice.paid',
    'order.updated',
  ])
  expect(await findings(caller)).toEqual([])
})

it('what a process that ended after the payment has left is placed, once, by two replicas', async () => {
  const caller = aCaller()
  const orders = await Promise.all(Array.from({ length: 10 }, () => cart(caller, 2)))
  for (const order of orders) await pay(caller, order, withoutCatalog)
  // As the transaction of the payment leaves it.
  await admin`
    update placement set attempts = 0, reason = null, next_attempt_at = now() where workspace_id = ${caller.workspaceId}`
  await Promise.all([aWorker().start?.(), aWorker().start?.()])
  for (const order of orders) {
    await isPlaced(caller, order)
    expect(await catalog.stockOf(order.variant.id)).toBe(0)
  }
  expect(await admin`select from placement where workspace_id = ${caller.workspaceId}`).toEqual([])
  expect(await findings(caller)).toEqual([])
})

it('a paid order whose next attempt was noted by a clock that was an hour ahead is placed (OP-302)', async () => {
  const caller = aCaller()
  const order = await cart(caller, 2)
  await pay(caller, order, withoutCatalog)
  await admin`
    update placement set next_attempt_at = next_attempt_at + interval '1 hour' where order_id = ${order.id}`
  await aWorker().start?.()
  await isPlaced(caller, order)
})

it('90 carts that are paid at once are all placed', async () => {
  const caller = aCaller()
  const variant = await catalog.addVariant(caller, { stock: 90 })
  const orders: Order[] = []
  for (let n = 0; n < 90; n++) {
    orders.push(await createOrder(caller, { items: [{ variant: variant.id, quantity: 1 }] }))
  }
  // With the limits of production: a workspace has few calls to catalog at a time.
  const usual = replica(new CatalogClient(catalog.url, testSigner()))
  const payment = { amount: 1000, currency: 'EUR', reference: 'p1' }
  const answers = await Promise.all(
    orders.map(({ id }) => untilServed(() => usual(caller, 'POST', `/v1/orders/${id}/payments`, payment))),
  )
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(90)
  await aWorker().start?.()
  for (const order of orders) {
    await isDue(order)
    await isPlaced(caller, order)
  }
  expect(await catalog.stockOf(variant.id)).toBe(0)
})

it('an attempt while the workspace uses all the connections it may is made again (OP-47, OP-161)', async () => {
  const caller = aCaller()
  const order = await cart(caller, 2)
  await pay(caller, order, withoutCatalog)
  const busy = pool(appUrl, 1000)
  const { promise: used, resolve: end } = Promise.withResolvers<void>()
  const using = busy.inWorkspace({ ...caller, traceparent: 'trace' }, () => used)
  whenDone(() => busy.stop?.())
  await aWorker(busy).start?.()
  await isDue(order)
  await eventually('it was tried', async () => {
    const [row] = await admin<{ attempts: number }[]>`select attempts from placement where order_id = ${order.id}`
    return row?.attempts === 2
  })
  expect((await placementOf(caller, order)).body).toMatchObject({
    state: 'WAITING',
    reason: expect.stringContaining('too many requests under way'),
  })
  end()
  await using
  await isDue(order)
  await isPlaced(caller, order)
})

it('a workspace for which catalog takes its time holds up no other one', async () => {
  const [caller, other] = [aCaller(), aCaller()]
  const [slow, free] = [await cart(caller, 2), await cart(other, 2)]
  for (const [by, order] of [
    [caller, slow],
    [other, free],
  ] as const)
    await pay(by, order, withoutCatalog)
  const [begun, answered, placed] = [0, 1, 2].map(() => Promise.withResolvers<void>())
  const db = pool(appUrl)
  const placements = placePaidOrders({
    db,
    worker,
    logger,
    async place(_, order) {
      if (order !== slow.id) return placed?.resolve()
      begun?.resolve()
      await answered?.promise
    },
  })
  whenDone(async () => {
    answered?.resolve()
    await placements.stop()
    await db.stop?.()
  })
  await isDue(slow)
  await placements.start()
  await begun?.promise
  await isDue(free)
  placements.wake()
  await placed?.promise
})

it('an order that stays locked, as by a host that vanished, holds those of other workspaces up for 3 s (OP-162)', async () => {
  const [caller, other] = [aCaller(), aCaller()]
  // The failed attempt's stock is not back yet when it is tried again: no relay runs here.
  const [locked, free] = [await cart(caller, 4), await cart(other, 2)]
  await pay(caller, locked, withoutCatalog)
  await pay(other, free, withoutCatalog)
  const isClaimed = async () => {
    const due = await admin`select from placement where order_id = ${locked.id} and next_attempt_at <= now()`
    return due.length === 0
  }
  await admin.begin(async (locking) => {
    await locking`select from sales_order where id = ${locked.id} for update`
    await isDue(locked)
    await aWorker().start?.()
    await eventually('it is tried', isClaimed)
    await isDue(free)
    await eventually('the other is placed', async () => (await read(other, free)).status === 'PLACED')
  })
  expect((await placementOf(caller, locked)).body).toMatchObject({ state: 'WAITING' })
  await isDue(locked)
  await isPlaced(caller, locked)
})

/** An order paid an hour ago, and an attempt at it that has taken its stock, as a lost answer of catalog leaves it. */
async function takenFor(caller: Caller) {
  const order = await cart(caller, 2)
  await pay(caller, order, withoutCatalog)
  await admin`update placement set created_at = created_at - interval '1 hour' where order_id = ${order.id}`
  const reservation = crypto.randomUUID()
  const lines = [{ variant: order.variant.id, quantity: 2 }]
  await catalog.send(caller, 'POST', '/internal/stock/take', { order: reservation, lines })
  await admin`
    insert into reservation (workspace_id, id, order_id, state, livemode, created_at)
    values (${caller.workspaceId}, ${reservation}, ${order.id}, 'TAKING', true, now() - interval '16 seconds')`
  return order
}
/** Catalog does not answer, and gets no record either: no relay runs here. */
const release = () =>
  releaseBatch(
    { db, worker, logger, catalog: { releaseStock: () => Promise.reject(new Error('away')) } },
    new Tasks<string>(),
  )
const attemptsAt = async ({ id }: Pick<Order, 'id'>) =>
  (await admin<{ attempts: number }[]>`select attempts from placement where order_id = ${id}`)[0]?.attempts

it('the stock of a former attempt that is released already is given back first, however late the record is', async () => {
  const caller = aCaller()
  const order = await takenFor(caller)
  await release()
  await aWorker().start?.()
  await isDue(order)
  await isPlaced(caller, order)
  expect(await catalog.stockOf(order.variant.id)).toBe(0)
})

it('the stock that an attempt of a process that ended still holds refuses no paid order for good', async () => {
  const caller = aCaller()
  const order = await takenFor(caller)
  await aWorker().start?.()
  await isDue(order)
  await eventually('it was tried', async () => (await attemptsAt(order)) === 2)
  expect((await placementOf(caller, order)).body).toMatchObject({
    state: 'WAITING',
    reason: 'Another request is placing this order; try again',
  })
  await release()
  await isDue(order)
  await isPlaced(caller, order)
})

it('the stock that an attempt before the payment may still hold is given back first (OP-47)', async () => {
  const caller = aCaller()
  const order = await cart(caller, 2)
  const between = await answeringServer()
  between.answer = forwardTo(catalog.url)
  const lose = loseAnswerOf(catalog.url)
  between.next.push(lose, lose, hangUp, hangUp)
  const client = new CatalogClient(between.url, testSigner(), PATIENT)
  whenDone(() => client.stop())
  const place = await replica(client)(caller, 'PUT', `/v1/orders/${order.id}`, { status: 'PLACED' })
  expect([place.status, await catalog.stockOf(order.variant.id)]).toEqual([503, 0])
  // No relay runs here: catalog has not got the record when the payment comes.
  expect((await pay(caller, order)).status).toBe(201)
  expect((await read(caller, order)).status).toBe('PLACED')
  expect(await catalog.stockOf(order.variant.id)).toBe(0)
  expect(await admin`select from released_attempt where workspace_id = ${caller.workspaceId}`).toEqual([])
})

it('a second refusal is final once Kafka has all that gives stock back (OP-47)', async () => {
  const caller = aCaller()
  const order = await cart(caller, 1)
  await pay(caller, order, withoutCatalog)
  await aWorker().start?.()
  for (const attempts of [2, 3, 4]) {
    if (attempts === 4)
      await admin`update outbox set refused = 'no topic', retry_at = now() where workspace_id = ${caller.workspaceId}`
    await isDue(order)
    await eventually('it was refused', async () => (await attemptsAt(order)) === attempts)
    expect((await placementOf(caller, order)).body).toMatchObject({ state: 'WAITING' })
  }
  await admin`
    update outbox set published_at = now(), refused = null, retry_at = null where workspace_id = ${caller.workspaceId}`
  await isDue(order)
  await eventually('it was refused again', async () => (await attemptsAt(order)) === 5)
  expect((await placementOf(caller, order)).body).toMatchObject({ state: 'REFUSED' })
})

it('stock that is short in two attempts at once refuses no paid order for good (OP-47)', async () => {
  const caller = aCaller()
  const order = await cart(caller, 1)
  await pay(caller, order)
  await aWorker().start?.()
  await admin`update placement set next_attempt_at = now() where order_id = ${order.id}`
  await eventually('it was refused beside the first', async () => (await attemptsAt(order)) === 2)
  expect((await placementOf(caller, order)).body).toMatchObject({ state: 'WAITING' })
  await isDue(order)
  await eventually('it was refused later', async () => (await attemptsAt(order)) === 3)
  expect((await placementOf(caller, order)).body).toMatchObject({ state: 'REFUSED' })
})

it('stock that another order takes, and gives back, refuses no paid order for good (OP-47)', async () => {
  const caller = aCaller()
  const order = await cart(caller, 2)
  const other = crypto.randomUUID()
  const lines = [{ variant: order.variant.id, quantity: 1 }]
  await catalog.send(caller, 'POST', '/internal/stock/take', { order: other, lines })
  // Orders has released it already; catalog gets the record later.
  await pay(caller, order)
  expect((await placementOf(caller, order)).body).toMatchObject({
    state: 'WAITING',
    reason: expect.stringContaining('only 1'),
  })
  await catalog.send(caller, 'POST', '/internal/stock/release', { order: other })
  await aWorker().start?.()
  await isDue(order)
  await isPlaced(caller, order)
})

it('a refusal is not final while an order of the workspace is being placed since before the first one (OP-47)', async () => {
  const caller = aCaller()
  const order = await cart(caller, 1)
  const begin = (age: string) => admin`
    insert into reservation (workspace_id, id, order_id, state, livemode, created_at)
    values (${caller.workspaceId}, uuidv7(), uuidv7(), 'TAKING', true, now() - ${age}::interval)`
  await begin('1 minute')
  await pay(caller, order)
  await aWorker().start?.()
  await isDue(order)
  await eventually('it was refused again', async () => (await attemptsAt(order)) === 2)
  expect((await placementOf(caller, order)).body).toMatchObject({ state: 'WAITING' })
  await admin`delete from reservation where workspace_id = ${caller.workspaceId}`
  // One that began later may take no stock that was short before.
  await begin('0 seconds')
  await isDue(order)
  await eventually('it was refused once more', async () => (await attemptsAt(order)) === 3)
  expect((await placementOf(caller, order)).body).toMatchObject({ state: 'REFUSED' })
})

it('released attempts that no other attempt came for are forgotten a day later by both clocks', async () => {
  const caller = aCaller()
  const [old, early, order] = [await cart(caller, 2), await cart(caller, 2), await cart(caller, 2)]
  const fail = ({ id }: Pick<Order, 'id'>) => withoutCatalog(caller, 'PUT', `/v1/orders/${id}`, { status: 'PLACED' })
  await fail(old)
  await admin`
    update released_attempt set released_at = released_at - interval '25 hours' where order_id = ${old.id}`
  const attempted = async () => {
    const rows = await admin<{ id: string }[]>`
      select order_id as id from released_attempt where workspace_id = ${caller.workspaceId} order by released_at`
    return rows.map(({ id }) => id)
  }
  // As if the clock of PostgreSQL were two days ahead.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 2 * 86_400_000 })
  await fail(early).finally(vi.useRealTimers)
  expect(await attempted()).toEqual([old.id, early.id])
  await fail(order)
  expect(await attempted()).toEqual([early.id, order.id])
})

it('stock that is short twice is final: the order says so, check-orders names it, and it is not tried again', async () => {
  const caller = aCaller()
  const order = await cart(caller, 1)
  expect((await pay(caller, order)).status).toBe(201)
  const first = aWorker()
  await first.start?.()
  await isDue(order)
  await eventually('it was tried again', async () => (await attemptsAt(order)) === 2)
  await first.stop?.()
  const refused = { state: 'REFUSED', reason: expect.stringContaining('items[0]'), attempts: 2, next_attempt_at: null }
  expect(await placementOf(caller, order)).toMatchObject({ status: 200, body: refused })
  const finding = { finding: 'paid order at CART', order: order.id, reason: expect.stringContaining('items[0]') }
  expect(await findings(caller)).toMatchObject([{ ...finding, tooYoung: false }])
  await catalog.send(caller, 'PUT', `/v1/products/${order.variant.product}`, { stock: 2 })
  const other = await cart(caller, 2)
  await pay(caller, other, withoutCatalog)
  await isDue(order)
  await isDue(other)
  await aWorker().start?.()
  await isPlaced(caller, other)
  expect((await read(caller, order)).status).toBe('CART')
  // The merchant resolves it.
  expect((await send(caller, 'PUT', `/v1/orders/${order.id}`, { status: 'PLACED' })).status).toBe(200)
  expect((await placementOf(caller, order)).status).toBe(404)
})

it('an order that is cancelled meanwhile, also by a replica of the version before, stays cancelled', async () => {
  const caller = aCaller()
  const [order, before] = [await cart(caller, 2), await cart(caller, 2)]
  for (const each of [order, before]) await pay(caller, each, withoutCatalog)
  const [row] = await admin`select * from placement where order_id = ${before.id}`
  for (const { id } of [order, before]) await send(caller, 'PUT', `/v1/orders/${id}`, { status: 'CANCELLED' })
  expect(await admin`select from placement where workspace_id = ${caller.workspaceId}`).toEqual([])
  await admin`insert into placement ${admin({ ...row, next_attempt_at: new Date(0) })}`
  await aWorker().start?.()
  await eventually('it was tried', async () => {
    const left = await admin`select from placement where order_id = ${before.id} and next_attempt_at is not null`
    return left.length === 0
  })
  for (const each of [order, before]) {
    expect((await read(caller, each)).status).toBe('CANCELLED')
    expect(await catalog.stockOf(each.variant.id)).toBe(2)
  }
})

it('an order that waits is measured, however many have been refused before', async () => {
  await admin`delete from placement`
  const { workspaceId } = aCaller()
  await admin`
    insert into placement (workspace_id, order_id, livemode, next_attempt_at, created_at)
    select ${workspaceId}, uuidv7(), true, case when n = 0 then now() end, now() - case when n = 0 then 1 else 24 end * interval '1 hour'
    from generate_series(0, ${MEASURED_ROWS}::integer) as n`
  const measured = async () => {
    const measuring = measurePlacements(worker, logger)
    await measuring.start?.()
    await measuring.stop?.()
    const text = await metricsText()
    expect(text).toMatch(/^orders_placements\{state="waiting"\} 1$/m)
    expect(text).toMatch(/^orders_placements\{state="refused"\} 10000$/m)
    return Number(/^orders_oldest_placement_seconds (\S+)$/m.exec(text)?.[1])
  }
  expect(await measured()).toBeGreaterThan(3500)
  // As a clock that was ahead has left it.
  await admin`update placement set created_at = now() + interval '2 hours' where next_attempt_at is not null`
  expect(await measured()).toBeGreaterThan(7000)
  await admin`delete from placement`
})
