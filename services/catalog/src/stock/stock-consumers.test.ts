import { randomUUID } from 'node:crypto'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import { consumer } from '@backoffice/messaging/consumers/consumer.ts'
import { encoded } from '@backoffice/messaging/consumers/testing/consumer.ts'
import { aTopic, collect, silent, testKafka } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { applyQueuedStock, queueBehindOthers, queueRecord } from './queued-stock.ts'
import { releaseReservations } from './stock-consumers.ts'
import { stockClient } from './testing/stock-client.ts'

const deadLetters = deadLetterTopic(releaseReservations.name)
const [{ kafka, open }, database] = await Promise.all([
  testKafka([aTopic(TOPICS.ordersReservations), aTopic(deadLetters)]),
  testDatabase('catalog'),
])
const { admin } = database
const dead = collect(kafka, deadLetters)
const { caller, take, release, variant, stockOf, movements } = stockClient(database)

/** Starts a replica of the consumer and of the worker behind it, as the service runs them. */
async function startReplica() {
  const db = openDatabase({ url: database.appUrl, applicationName: 'replica', poolSize: 3 })
  const worker = openDatabase({ url: database.workerUrl, applicationName: 'replica worker', poolSize: 1 })
  const replica = consumer(releaseReservations, { kafka: open(), db, logger: silent, fatal: () => undefined })
  const queued = applyQueuedStock({ db, worker, logger: silent })
  await Promise.all([replica.start(), queued.start()])
  whenDone(async () => {
    await Promise.all([replica.stop(), queued.stop()])
    await Promise.all([db.stop?.(), worker.stop?.()])
  })
}
await Promise.all([startReplica(), startReplica()])

/** With `key` all records are in one partition. */
const send = (reservations: readonly string[], { workspaceId, livemode } = caller, differences = {}, key?: string) =>
  kafka.produce(
    reservations.map((reservation) => ({
      topic: TOPICS.ordersReservations,
      key: key ?? reservation,
      value: encoded({
        ...{ id: randomUUID(), type: 'reservation.released', workspace_id: workspaceId, livemode },
        ...{ occurred_at: new Date().toISOString(), data: { order: reservation }, ...differences },
      }),
      headers: {},
    })),
  )

/** Waits until a reservation is released. */
const released = (reservation: string, { workspaceId } = caller) =>
  eventually('it is released', async () => {
    const rows = await admin`
      select from stock_reservation where workspace_id = ${workspaceId} and order_id = ${reservation} and state = 'RELEASED'`
    return rows.length > 0
  })

test('a reservation that orders gives up returns its stock, and asks for product.updated (OP-71, OP-96)', async () => {
  const [mug, cup] = [await variant(5), await variant(7)]
  const reservation = randomUUID()
  const lines = [mug, cup].map(({ id }) => ({ variant: id, quantity: 2 }))
  await take(lines, reservation)
  await admin`truncate product_refresh`
  await send([reservation])
  await released(reservation)
  expect([await stockOf(mug.id), await stockOf(cup.id)]).toEqual([5, 7])
  expect((await movements(mug.id))[1]).toEqual({ delta: 2, reason: 'released', order_id: reservation, actor: 'orders' })
  const waiting = await admin<{ product_id: string }[]>`select product_id from product_refresh where is_change`
  expect(waiting.map(({ product_id }) => product_id).sort()).toEqual([mug.product, cup.product].sort())
})

test('a record that comes again, also beside a release by request, returns the stock once (OP-96)', async () => {
  const mug = await variant(50)
  const orders = Array.from({ length: 20 }, () => randomUUID())
  for (const reservation of orders) await take([{ variant: mug.id, quantity: 2 }], reservation)
  await Promise.all([send(orders), send(orders), ...orders.map((reservation) => release(reservation))])
  const last = randomUUID()
  await send([...orders, last])
  await Promise.all([...orders, last].map((reservation) => released(reservation)))
  expect([await stockOf(mug.id), (await movements(mug.id)).length]).toEqual([50, 40])
})

test('a reservation that has taken nothing is released too: its take is refused when it comes late (OP-96)', async () => {
  const mug = await variant(5)
  const reservation = randomUUID()
  await send([reservation])
  await released(reservation)
  expect((await take([{ variant: mug.id, quantity: 2 }], reservation)).status).toBe(409)
  expect(await stockOf(mug.id)).toBe(5)
})

test('the reservation of that id in another workspace keeps its stock', async () => {
  const mug = await variant(5)
  const reservation = randomUUID()
  await take([{ variant: mug.id, quantity: 2 }], reservation)
  const other = aCaller()
  await send([reservation], other)
  await released(reservation, other)
  expect(await stockOf(mug.id)).toBe(3)
})

test('a record whose product is locked keeps back no other record of its partition, and is applied once', async () => {
  const others = stockClient(database, aCaller())
  const [mug, cup, other] = [await variant(5), await variant(5), await others.variant(5)]
  const [locked, free, ofOther] = [randomUUID(), randomUUID(), randomUUID()]
  await take([{ variant: mug.id, quantity: 2 }], locked)
  await take([{ variant: cup.id, quantity: 2 }], free)
  await others.take([{ variant: other.id, quantity: 2 }], ofOther)
  await admin.begin(async (tx) => {
    await tx`select from variant where id = ${mug.id} for update`
    await send([locked, locked, free], caller, {}, 'one partition')
    await send([ofOther], others.caller, {}, 'one partition')
    await Promise.all([released(ofOther, others.caller), released(free)])
    expect(await stockOf(mug.id)).toBe(3)
  })
  await send([locked])
  await released(locked)
  expect([await stockOf(mug.id), await stockOf(cup.id), await others.stockOf(other.id)]).toEqual([5, 5, 5])
  expect((await movements(mug.id)).slice(1)).toEqual([
    { delta: 2, reason: 'released', order_id: locked, actor: 'orders' },
  ])
  await eventually('nothing is queued', async () => (await admin`select from queued_stock`).length === 0)
})

test('a record that names no reservation goes to the dead letters', async () => {
  const reservation = randomUUID()
  await send([reservation], caller, { data: {} })
  const letter = await eventually('a dead letter', () => dead.records.find(({ key }) => key === reservation))
  expect(letter.headers['dead-letter-reason']?.toString()).toContain('data.order')
})

test('a queued record that gives back more than was taken is set aside with the reason, and keeps back no other', async () => {
  const [mug, reservation, id] = [await variant(5), randomUUID(), randomUUID()]
  await take([{ variant: mug.id, quantity: 2 }], reservation)
  const lines = [{ variant: mug.id, quantity: 3, restock: true }]
  const db = openDatabase({ url: database.appUrl, applicationName: 'queueing', poolSize: 1 })
  whenDone(() => db.stop?.())
  const context = { ...caller, actor: 'orders', traceparent: `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01` }
  await db.inWorkspace(context, (tx) =>
    queueRecord(tx, { type: 'stock.returned', data: { order: reservation, id, lines } }),
  )
  const refused = await eventually('it is set aside', async () => {
    const [row] = await admin<{ refused: string | null }[]>`select refused from queued_stock where id = ${id}`
    return row?.refused ?? undefined
  })
  expect(refused).toContain(`has not taken 3 of variant ${mug.id}`)
  const later = { type: 'reservation.released', data: { order: reservation } } as const
  expect(await db.inWorkspace(context, (tx) => queueBehindOthers(tx, later))).toBe(false)
})
