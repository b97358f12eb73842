import { randomUUID } from 'node:crypto'
import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import { deadLetter, parkKey } from '@backoffice/messaging/consumers/dead-letters.ts'
import type { IncomingRecord } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { aTopic, collect, testKafka } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { readDeadLetters } from './read-dead-letters.ts'
import { replayDeadLetters } from './replay-dead-letters.ts'

const CONSUMER = 'catalog.reservations'
const TOPIC = 'orders.reservations'
const { kafka } = await testKafka([aTopic(TOPIC), aTopic(deadLetterTopic(CONSUMER))])
const { workerUrl } = await testDatabase('catalog')
const worker = openDatabase({ url: workerUrl, applicationName: 'test' })
whenDone(() => worker.stop?.())

const KEY = randomUUID()
const aRecord = (offset: string): IncomingRecord => ({
  topic: TOPIC,
  key: KEY,
  value: Buffer.from(`value ${offset}`),
  headers: { traceparent: `trace ${offset}` },
  partition: 1,
  offset,
  producedAt: new Date(),
})
const reading = () => ({ consumers: [CONSUMER], since: new Date(0), until: new Date(Date.now() + 60_000) })
const replay = () => replayDeadLetters(kafka, worker.sql, reading())

test('each record goes to its topic again unchanged, in its order and once, and its key is no longer parked', async () => {
  const onTopic = collect(kafka, TOPIC)
  await parkKey(worker.sql, CONSUMER, aRecord('7'), 'broken')
  // 7 came twice, as after a kill between dead letter and commit.
  await kafka.produce(['7', '7', '9'].map((offset) => deadLetter(CONSUMER, aRecord(offset), 'broken')))
  expect(await replay()).toEqual({ now: 2, before: 1 })
  const records = await onTopic.atLeast(2)
  expect(records.map(({ key, value, headers }) => [key, String(value), Object.keys(headers)])).toEqual([
    [KEY, 'value 7', ['traceparent']],
    [KEY, 'value 9', ['traceparent']],
  ])
  expect(await worker.sql`select from parked_key where key = ${KEY}`).toHaveLength(0)
  const letters = await readDeadLetters(kafka, worker.sql, reading())
  expect(letters.map(({ replayed, parked }) => [replayed, parked])).toEqual(Array(3).fill([true, false]))

  expect(await replay()).toEqual({ now: 0, before: 3 })
  await kafka.produce([deadLetter(CONSUMER, aRecord('11'), 'broken again')])
  expect(await replay()).toEqual({ now: 1, before: 3 })
  expect((await onTopic.atLeast(3)).map(({ value }) => String(value))).toEqual(['value 7', 'value 9', 'value 11'])
})
