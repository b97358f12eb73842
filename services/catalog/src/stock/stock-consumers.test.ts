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

/** Starts a replica of the consumer, as the service runs it. */
async function startReplica() {
  const db = openDatabase({ url: database.appUrl, applicationName: 'replica', poolSize: 3 })
  const replica = consumer(releaseReservations, { kafka: open(), db, logger: silent, fatal: () => undefined })
  await replica.start()
  whenDone(async () => {
    await replica.stop()
    await db.stop?.()
  })
}
await Promise.all([startReplica(), startReplica()])

const send = (reservations: readonly string[], { workspaceId, livemode } = caller, differences = {}) =>
  kafka.produce(
    reservations.map((reservation) => ({
      topic: TOPICS.ordersReservations,
      key: reservation,
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

test('a record that names no reservation goes to the dead letters', async () => {
  const reservation = randomUUID()
  await send([reservation], caller, { data: {} })
  const letter = await eventually('a dead letter', () => dead.records.find(({ key }) => key === reservation))
  expect(letter.headers['dead-letter-reason']?.toString()).toContain('data.order')
})
