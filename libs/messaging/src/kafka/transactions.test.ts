import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { END, type IncomingRecord } from './kafka-connection.ts'
import { readRange } from './read-range.ts'
import { aTopic, testKafka } from './testing/kafka.ts'

const kafkajs: typeof import('kafkajs') = createRequire(import.meta.url)('kafkajs')
const { kafka, prefix, open } = await testKafka([aTopic('things')])

/** A producer of another system, which uses transactions. */
const producer = new kafkajs.Kafka({ brokers: [...backingServices().kafkaBrokers], logLevel: 0 }).producer({
  transactionalId: randomUUID(),
  idempotent: true,
  maxInFlightRequests: 1,
  createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
})
await producer.connect()
whenDone(() => producer.disconnect())

/** Sends records to one partition. More than a fetch has of it leave the marker of their end to the next fetch. */
async function transact(end: 'commit' | 'abort', ...values: (string | Buffer)[]) {
  const transaction = await producer.transaction()
  await transaction.send({ topic: `${prefix}things`, messages: values.map((value) => ({ value, partition: 0 })) })
  await transaction[end]()
}
const sumOf = (offsets: ReadonlyMap<string, number>) => [...offsets.values()].reduce((sum, offset) => sum + offset, 0)
const LARGER_THAN_A_FETCH = Buffer.alloc(600_000)

const TRANSACTIONS: [string, 'commit' | 'abort', (string | Buffer)[], number][] = [
  ['an aborted transaction', 'abort', ['a', 'b'], 0],
  ['an aborted transaction that is larger than a fetch', 'abort', [LARGER_THAN_A_FETCH], 0],
  ['a committed transaction', 'commit', ['a', 'b'], 2],
  ['a committed transaction that is larger than a fetch', 'commit', [LARGER_THAN_A_FETCH], 1],
]

test.each(TRANSACTIONS)('a group leaves no lag behind %s', async (_, end, values, count) => {
  const group = randomUUID()
  const received: IncomingRecord[] = []
  const lag = async () => (await kafka.positions(group, ['things'])).reduce((sum, position) => sum + position.lag, 0)
  const member = open().consume({
    group,
    topics: ['things'],
    concurrency: 1,
    async onBatch({ records, markProcessed }) {
      received.push(...records)
      const last = records.at(-1)
      if (last) markProcessed(last)
    },
  })
  await eventually('it has begun', () => member.assigned().size > 0)
  await eventually('it has read what was there', async () => (await lag()) === 0)
  received.length = 0
  await transact(end, ...values)
  await eventually('no lag', async () => received.length === count && (await lag()) === 0)
  await member.stop()
})

test.each(TRANSACTIONS)('a reading ends when %s is at the end of its range', async (_, end, values, count) => {
  const from = await kafka.offsetsAt(['things'], END)
  await transact(end, ...values)
  // The broker may write the marker of its end a moment later.
  const until = await eventually('the transaction has ended', async () => {
    const ends = await kafka.offsetsAt(['things'], END)
    return sumOf(ends) > sumOf(from) + values.length && ends
  })
  const read: IncomingRecord[] = []
  await readRange(open(), {
    topics: ['things'],
    range: { from, until },
    idleTimeoutMs: 10_000,
    onRecords: async (records) => void read.push(...records),
  })
  expect(read).toHaveLength(count)
})
