import { randomUUID } from 'node:crypto'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test } from 'vitest'
import type { IncomingRecord } from './kafka-connection.ts'
import { readRange } from './read-range.ts'
import { aTopic, testKafka } from './testing/kafka.ts'

const { kafka, open } = await testKafka([aTopic('one'), aTopic('two'), aTopic('empty'), aTopic('large')])
const TOPICS = ['one', 'two', 'empty']

const produce = (topic: string, ...values: string[]) =>
  kafka.produce(values.map((value) => ({ topic, key: randomUUID(), value: Buffer.from(value), headers: {} })))

/** The offsets of now, once the clock has moved on: what is produced from here on comes after them. */
async function offsetsNow(topics = TOPICS) {
  const before = Date.now()
  await eventually('the next millisecond', () => Date.now() > before)
  return kafka.offsetsAt(topics, new Date())
}

async function read(from: Map<string, number>, until: Map<string, number>, topics = TOPICS) {
  const records: IncomingRecord[] = []
  await readRange(open(), { topics, range: { from, until }, onRecords: async (part) => void records.push(...part) })
  return records.map(({ value }) => value?.toString()).sort()
}

test('what was produced between two moments is read, once, and nothing before or after', async () => {
  await produce('one', 'before', 'before', 'before')
  const from = await offsetsNow()
  await produce('one', 'a', 'b', 'c')
  await produce('two', 'd')
  const until = await offsetsNow()
  await produce('one', 'after', 'after', 'after')
  await produce('two', 'after')
  expect(await read(from, until)).toEqual(['a', 'b', 'c', 'd'])
})

test('a range without records is read at once, also from a topic that never had one', async () => {
  const now = await offsetsNow()
  expect(await read(now, now)).toEqual([])
})

test('one part is handed over after the other, those of a partition in their order', async () => {
  const from = await offsetsNow(['large'])
  const value = Buffer.alloc(50_000)
  for (let batch = 0; batch < 10; batch++) {
    await kafka.produce(Array.from({ length: 10 }, () => ({ topic: 'large', key: 'same', value, headers: {} })))
  }
  const range = { from, until: await offsetsNow(['large']) }
  let [parts, working] = [0, 0]
  const offsets: number[] = []
  await readRange(open(), {
    topics: ['large'],
    range,
    async onRecords(records) {
      expect(++working).toBe(1)
      parts++
      await kafka.positions('nobody', ['large'])
      working--
      offsets.push(...records.map(({ offset }) => Number(offset)))
    },
  })
  expect(offsets).toEqual(Array.from({ length: 100 }, (_, index) => index))
  expect(parts).toBeGreaterThan(1)
})

test('a member that is told where to begin gets nothing from before, and commits nothing', async () => {
  const ends = await offsetsNow(['large'])
  const offsets: string[] = []
  const member = kafka.consume({
    group: 'reader',
    topics: ['large'],
    concurrency: 1,
    from: (partition) => Math.max(0, (ends.get(partition) ?? 0) - 2),
    async onBatch(batch) {
      offsets.push(...batch.records.map(({ offset }) => offset))
      const last = batch.records.at(-1)
      if (last) batch.markProcessed(last)
    },
  })
  await eventually('the last record', () => offsets.includes('99'))
  await member.stop()
  expect(offsets).toEqual(['98', '99'])
  const positions = await kafka.positions('reader', ['large'])
  expect(positions.map(({ offset }) => offset)).toEqual([0, 0, 0])
})

test('a record tells when it was produced', async () => {
  const [from, before] = [await offsetsNow(), Date.now()]
  await produce('two', 'now')
  const range = { from, until: await offsetsNow() }
  const times: number[] = []
  await readRange(open(), {
    topics: TOPICS,
    range,
    onRecords: async (records) => void times.push(...records.map(({ producedAt }) => producedAt.getTime())),
  })
  expect(times).toHaveLength(1)
  expect(times[0]).toBeGreaterThanOrEqual(before)
  expect(times[0]).toBeLessThanOrEqual(Date.now())
})

test('what the caller fails at ends the reading', async () => {
  const from = await offsetsNow()
  await produce('one', 'a', 'b')
  const range = { from, until: await offsetsNow() }
  let calls = 0
  const failing = readRange(open(), {
    topics: TOPICS,
    range,
    async onRecords() {
      calls++
      throw new Error('no more')
    },
  })
  await expect(failing).rejects.toThrow('no more')
  expect(calls).toBe(1)
})

test('a partition of which nothing comes is named', async () => {
  const until = new Map([...(await offsetsNow())].map(([partition, offset]) => [partition, offset + 1]))
  const reading = { topics: TOPICS, range: { from: await offsetsNow(), until }, onRecords: async () => undefined }
  await expect(readRange(open(), { ...reading, idleTimeoutMs: 300 })).rejects.toThrow(
    /nothing of .*one\/0.* for 300 ms/,
  )
})

test('a topic that is not there is an error', async () => {
  await expect(kafka.offsetsAt(['nowhere'], new Date())).rejects.toThrow()
})
