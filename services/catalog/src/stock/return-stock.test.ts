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
import { afterAll, expect, it } from 'vitest'
import { reduceReservations } from './stock-consumers.ts'
import { stockClient } from './testing/stock-client.ts'

const deadLetters = deadLetterTopic(reduceReservations.name)
const [{ kafka, open }, database] = await Promise.all([
  testKafka([aTopic(TOPICS.ordersReturns), aTopic(deadLetters)]),
  testDatabase('catalog'),
])
const { admin } = database
const dead = collect(kafka, deadLetters)
const client = stockClient(database)
const { caller, take, release, giveBack, variant, stockOf, movements } = client

afterAll(async () => {
  expect(await client.ledgerDifferences()).toEqual([])
})

/** Starts a replica of the consumer, as the service runs it. */
async function startReplica() {
  const db = openDatabase({ url: database.appUrl, applicationName: 'replica', poolSize: 3 })
  const replica = consumer(reduceReservations, { kafka: open(), db, logger: silent, fatal: () => undefined })
  await replica.start()
  whenDone(async () => {
    await replica.stop()
    await db.stop?.()
  })
}
await Promise.all([startReplica(), startReplica()])

const linesOf = async (reservation: string) =>
  (
    await admin<{ lines: { variant: string; quantity: number }[] }[]>`
    select lines from stock_reservation where order_id = ${reservation}`
  )[0]?.lines.map(({ variant, quantity }) => [variant, quantity])

const record = (
  reservation: string,
  lines: readonly object[],
  id: string = randomUUID(),
  { workspaceId } = caller,
) => ({
  topic: TOPICS.ordersReturns,
  key: reservation,
  value: encoded({
    ...{ id: randomUUID(), type: 'stock.returned', workspace_id: workspaceId, livemode: true },
    ...{ occurred_at: new Date().toISOString(), data: { order: reservation, id, lines } },
  }),
  headers: {},
})

it('takes lines out of a reservation, returns what is to be sold again, and asks for product.updated (OP-212)', async () => {
  const [mug, cup] = [await variant(9), await variant(9)]
  const reservation = randomUUID()
  const lines = [mug, cup].map(({ id }) => ({ variant: id, quantity: 4 }))
  await take(lines, reservation)
  await admin`truncate product_refresh`
  const answer = await giveBack(reservation, [
    { variant: mug.id, quantity: 1 },
    { variant: mug.id, quantity: 1, restock: false },
    { variant: cup.id, quantity: 4 },
  ])
  expect(answer).toMatchObject({ status: 200, body: { order: reservation } })
  expect([await stockOf(mug.id), await stockOf(cup.id)]).toEqual([6, 9])
  expect(await linesOf(reservation)).toEqual([[mug.id, 2]])
  expect((await movements(mug.id))[1]).toEqual({
    delta: 1,
    reason: 'returned',
    order_id: reservation,
    actor: caller.keyId,
  })
  expect(await admin`select from product_refresh where is_change`).toHaveLength(2)
  await release(reservation)
  expect([await stockOf(mug.id), await stockOf(cup.id)]).toEqual([8, 9])
})

it('happens once, when it is asked for many times at once and by records as well (OP-212)', async () => {
  const mug = await variant(50)
  const reservation = randomUUID()
  await take([{ variant: mug.id, quantity: 10 }], reservation)
  const ids = Array.from({ length: 5 }, () => randomUUID())
  const lines = [{ variant: mug.id, quantity: 1, restock: true }]
  const records = ids.map((id) => record(reservation, lines, id))
  await Promise.all([
    kafka.produce(records),
    ...ids.flatMap((id) => [giveBack(reservation, lines, id), giveBack(reservation, lines, id)]),
  ])
  const last = randomUUID()
  await kafka.produce([...records, record(reservation, lines, last)])
  await eventually(
    'the last is returned',
    async () => (await admin`select from stock_return where id = ${last}`).length > 0,
  )
  expect([await stockOf(mug.id), await linesOf(reservation)]).toEqual([46, [[mug.id, 4]]])
})

it('comes to the same before and after the release of the whole reservation (OP-96, OP-212)', async () => {
  for (const isFirst of [true, false]) {
    const mug = await variant(9)
    const reservation = randomUUID()
    await take([{ variant: mug.id, quantity: 5 }], reservation)
    const back = () =>
      giveBack(reservation, [
        { variant: mug.id, quantity: 2 },
        { variant: mug.id, quantity: 1, restock: false },
      ])
    if (isFirst) await back()
    await release(reservation)
    if (!isFirst) await back()
    expect(await stockOf(mug.id)).toBe(8)
  }
})

it('refuses more than was taken, and a reservation of another workspace, and changes nothing', async () => {
  const mug = await variant(9)
  const reservation = randomUUID()
  await take([{ variant: mug.id, quantity: 2 }], reservation)
  expect((await giveBack(reservation, [{ variant: mug.id, quantity: 3 }])).status).toBe(409)
  const other = stockClient(database, aCaller())
  expect((await other.giveBack(reservation, [{ variant: mug.id, quantity: 1 }])).status).toBe(409)
  expect([await stockOf(mug.id), await linesOf(reservation)]).toEqual([7, [[mug.id, 2]]])
})

it('takes goods that are not sold again out of a stock down to −(2^53−1) (OP-96)', async () => {
  const mug = await variant(9)
  const reservation = randomUUID()
  await take([{ variant: mug.id, quantity: 2 }], reservation)
  await release(reservation)
  await database.admin`update variant set stock = ${String(Number.MIN_SAFE_INTEGER)} where id = ${mug.id}`
  expect((await giveBack(reservation, [{ variant: mug.id, quantity: 1, restock: false }])).status).toBe(200)
  expect([await stockOf(mug.id), await linesOf(reservation)]).toEqual([Number.MIN_SAFE_INTEGER, [[mug.id, 1]]])
})

it('a record of more than was taken goes to the dead letters with its reason', async () => {
  const mug = await variant(9)
  const reservation = randomUUID()
  await kafka.produce([record(reservation, [{ variant: mug.id, quantity: 1, restock: true }])])
  const letter = await eventually('a dead letter', () => dead.records.find(({ key }) => key === reservation))
  expect(letter.headers['dead-letter-reason']?.toString()).toContain('has not taken 1 of variant')
})

it('the number of statements does not depend on the number of lines', async () => {
  const variants = await Promise.all(Array.from({ length: 10 }, () => variant(5)))
  const counts: number[] = []
  for (const count of [1, 10]) {
    const reservation = randomUUID()
    const lines = variants.slice(0, count).map(({ id }) => ({ variant: id, quantity: 1 }))
    await take(lines, reservation)
    database.takeStatements()
    await giveBack(reservation, lines)
    counts.push(database.takeStatements().length)
  }
  expect(counts[0]).toBe(counts[1])
})
