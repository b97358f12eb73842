import { createRequire } from 'node:module'
import { zstdCompressSync } from 'node:zlib'
import { metricsText } from '@backoffice/runtime/metrics.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { readRange } from '../kafka/read-range.ts'
import { silent } from '../kafka/testing/kafka.ts'
import { encoded, testConsumer } from './testing/consumer.ts'

const kafkajs: typeof import('kafkajs') = createRequire(import.meta.url)('kafkajs')
const { None: NONE, ZSTD } = kafkajs.CompressionTypes
type Message = import('kafkajs').Message
const notes = await testConsumer()
const dead = notes.deadLetters()
await notes.kafka.configureTopic('notes', { 'max.message.bytes': '8000000' })

/** kafkajs as a producer of another system, which compresses with zstd. */
const reading = kafkajs.CompressionCodecs[ZSTD]()
kafkajs.CompressionCodecs[ZSTD] = () => ({
  ...reading,
  compress: async ({ buffer }: { readonly buffer: Buffer }) => zstdCompressSync(buffer),
})
const producer = new kafkajs.Kafka({ brokers: [...backingServices().kafkaBrokers], logLevel: 0 }).producer({
  createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
})
await producer.connect()
whenDone(() => producer.disconnect())
/** Sends records as one batch. Returns its first offset. */
async function sendBatch(partition: number, messages: readonly Message[], compression: number = NONE): Promise<number> {
  const topic = `${notes.prefix}notes`
  const placed = messages.map((message) => ({ ...message, partition }))
  const [sent] = await producer.send({ topic, messages: placed, compression, acks: -1 })
  return Number(sent?.baseOffset)
}
const sendNotes = (partition: number, key: string, ...names: string[]) =>
  sendBatch(
    partition,
    names.map((name) => ({ key, value: encoded({ name }) })),
  )

/** What `logger.error` was called with. */
const logged: unknown[] = []
const logger = { ...silent, info() {}, warn() {}, error: (details: unknown) => void logged.push(details) } as never

const MEBIBYTE = 1024 * 1024
const tooLarge = () => Array.from({ length: 130 }, () => ({ key: 'huge', value: Buffer.alloc(MEBIBYTE) }))
const MANY = 100_001
const tooMany = () => [{ key: 'many', value: null }]
/** kafkajs takes minutes to group so many records. This sends the one record many times, in one batch. */
const { prototype }: { prototype: Broker } = createRequire(import.meta.url)('kafkajs/src/broker')
const { produce } = prototype
prototype.produce = function (request) {
  for (const { partitions } of request.topicData) {
    for (const each of partitions) {
      if (String(each.messages[0]?.key) === 'many') each.messages = Array(MANY).fill(each.messages[0])
    }
  }
  return produce.call(Object.create(this, { lookupRequest: { value: forging(this) } }), request)
}
/** Sends batches with the epoch that marks those that were replaced. */
const forging = (broker: Broker) => (key: number, definition: object) => {
  const protocol = broker.lookupRequest(key, definition)
  return (options: object) => {
    const { request, response } = protocol(options)
    const encode = async () => {
      const encoded = await request.encode()
      const bytes = encoded.buffer
      for (let at = 0; at + 17 < bytes.length; at++) {
        const isBatch = bytes.readInt32BE(at + 8) === bytes.length - at - 12 && bytes.readInt8(at + 16) === 2
        if (isBatch) bytes.writeInt32BE(-(2 ** 31), at + 12)
        if (isBatch) forged++
      }
      return encoded
    }
    return { request: { ...request, encode }, response }
  }
}
let forged = 0
whenDone(() => {
  prototype.produce = produce
})
interface Protocol {
  readonly request: { encode(): Promise<{ readonly buffer: Buffer }> }
  readonly response: object
}
interface Broker {
  lookupRequest(key: number, definition: object): (options: object) => Protocol
  produce(request: { topicData: { partitions: { messages: Message[] }[] }[] }): Promise<unknown>
}

test.each([
  ['more than 128 MiB before its compression', 0, tooLarge, 130, ZSTD, 'larger than 134217728 bytes'],
  ['too many records, compressed', 1, tooMany, MANY, ZSTD, 'it has 100001 records, more than 100000'],
  ['too many records, not compressed', 2, tooMany, MANY, NONE, 'it has 100001 records, more than 100000'],
])(
  'a batch of %s is one dead letter, and all records around it are handled',
  async (_what, partition, batch, count, codec, reason) => {
    const [before, after, other] = [notes.aKey(), notes.aKey(), notes.aKey()]
    await sendNotes(partition, before, 'a', 'b')
    const first = await sendBatch(partition, batch(), codec)
    const last = String(first + count - 1)
    await sendNotes(partition, after, 'c', 'd')
    await sendNotes((partition + 1) % 3, other, 'e')
    const handled: string[] = []
    const consumer = await notes.start(
      async (records, tx) => {
        handled.push(...records.flatMap(({ value }) => value.name))
        return notes.insert(records, tx)
      },
      { logger },
    )
    expect(await notes.notesOf(after, 2, 30_000)).toEqual(['c', 'd'])
    expect(await notes.notesOf(before, 2)).toEqual(['a', 'b'])
    expect(await notes.notesOf(other, 1)).toEqual(['e'])
    const place = [partition, last].join()
    const ofBatch = () =>
      dead.records.filter(
        ({ headers }) => [headers['dead-letter-partition'], headers['dead-letter-offset']].join() === place,
      )
    const [letter] = await eventually('a dead letter', () => ofBatch().length > 0 && ofBatch())
    expect(letter).toMatchObject({ key: null, value: null })
    const headers = Object.entries(letter?.headers ?? {}).map(([name, value]) => [name, String(value)])
    expect(Object.fromEntries(headers)).toMatchObject({
      'dead-letter-topic': 'notes',
      'dead-letter-partition': String(partition),
      'dead-letter-first-offset': String(first),
      'dead-letter-offset': last,
      'dead-letter-value': 'never read',
      'dead-letter-reason': expect.stringContaining(reason),
    })
    expect(String(letter?.headers['dead-letter-reason'])).toContain(`the offsets ${first} to ${last} cannot be read`)
    expect(logged).toContainEqual(
      expect.objectContaining({ topic: 'notes', partition, first_offset: String(first), last_offset: last }),
    )
    const counted = /consumer_dead_letters_total\{consumer="test\.notes"[^}]*\} (\d+)/.exec(await metricsText())
    expect(Number(counted?.[1])).toBe(dead.records.length)
    const lag = async () => (await notes.kafka.positions(notes.name, ['notes'])).every((position) => position.lag === 0)
    await eventually('all offsets are committed', lag)
    await consumer.stop()

    // A new member begins behind the batch.
    const again = notes.aKey()
    const restarted = await notes.start()
    await sendNotes(partition, again, 'f')
    expect(await notes.notesOf(again, 1)).toEqual(['f'])
    await restarted.stop()
    expect(ofBatch()).toHaveLength(1)
    expect(handled.sort()).toEqual(['a', 'b', 'c', 'd', 'e'])
  },
)

test('a reader of a range gets the batch as one record, and what is around it', async () => {
  const from = await notes.kafka.offsetsAt(['notes'], new Date(0))
  const until = await notes.kafka.offsetsAt(['notes'], new Date(Date.now() + MEBIBYTE))
  const unreadable: unknown[] = []
  let read = 0
  await readRange(notes.kafka, {
    topics: ['notes'],
    range: { from, until },
    async onRecords(records) {
      for (const record of records) record.unreadable ? unreadable.push(record.unreadable) : read++
    },
  })
  expect(unreadable).toHaveLength(3)
  expect(read).toBe(3 * 6)
  // All were sent with the mark of a batch that was replaced: brokers have written over it.
  expect(forged).toBeGreaterThan(read / 2)
})

test('bytes that the codec refuses are replaced too: the record says why', async () => {
  const { replacingUnreadable } = await import('../kafka/unreadable-batches.ts')
  const batch = Buffer.alloc(61 + 40)
  batch.writeInt32BE(49 + 40, 8)
  batch.writeInt8(2, 16)
  batch.writeInt32BE(5, 57)
  const refuse = async () => Promise.reject(new RangeError('broken'))
  await expect(replacingUnreadable(refuse)(batch.subarray(61))).rejects.toThrow('a batch cannot be read')
  expect(batch.readInt32BE(57)).toBe(1)
  expect(batch.toString('latin1')).toContain('broken')
  // Without a header of Kafka before it, it stays as it is.
  await expect(replacingUnreadable(refuse)(Buffer.alloc(40))).rejects.toThrow('broken')
})
