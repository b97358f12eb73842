import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { startMovingAddress } from '@backoffice/testing/moving-address.ts'
import { afterAll, expect, test } from 'vitest'
import { connectKafka } from './kafka.ts'
import { RecordsRefused, TopicUnavailable } from './kafka-connection.ts'
import { aTopic, collect, silent, testKafka } from './testing/kafka.ts'

const warnings: string[] = []
process.on('warning', ({ name }) => warnings.push(name))

const { kafka, prefix } = await testKafka([
  aTopic('things'),
  aTopic('small', { 'max.message.bytes': '1000' }),
  aTopic('medium', { 'max.message.bytes': '60000' }),
  aTopic('order'),
  // No record is young enough: its time is from before it is sent.
  aTopic('unwritable', { 'message.timestamp.before.max.ms': '0' }),
  aTopic('compacted', { 'cleanup.policy': 'compact' }),
])

const aRecord = (topic: string, key: string, value: string) => ({
  topic,
  key,
  value: Buffer.from(value),
  headers: { traceparent: 'trace' },
})

test('a record arrives with its key, value and headers', async () => {
  const things = collect(kafka, 'things')
  await kafka.produce([aRecord('things', 'a', 'one')])
  const [record] = await things.atLeast(1)
  expect(record).toMatchObject({ topic: 'things', key: 'a', offset: '0' })
  expect(record?.value?.toString()).toBe('one')
  expect(record?.headers.traceparent?.toString()).toBe('trace')
})

test('records of a key stay in the order in which they were produced, requests side by side or not', async () => {
  const order = collect(kafka, 'order')
  const values = Array.from({ length: 50 }, (_, index) => String(index))
  await Promise.all(values.map((value) => kafka.produce([aRecord('order', 'same', value)])))
  const records = await order.atLeast(50)
  expect(records.map(({ value }) => value?.toString())).toEqual(values)
})

test('a record that the broker will never take is refused, and the next one goes through', async () => {
  const small = collect(kafka, 'small')
  await expect(kafka.produce([aRecord('small', 'a', 'x'.repeat(2000))])).rejects.toThrow(RecordsRefused)
  await kafka.produce([aRecord('small', 'a', 'y')])
  expect((await small.atLeast(1)).map(({ value }) => value?.toString())).toEqual(['y'])
})

test('a record that is not valid for its topic is refused: one without a key, where records replace each other', async () => {
  await expect(kafka.produce([{ ...aRecord('compacted', '', 'x'), key: null }])).rejects.toThrow(RecordsRefused)
})

test('a topic that is missing is named so at once, also beside one that is there', async () => {
  const records = [aRecord('things', 'c', 'x'), aRecord('missing', 'a', 'x')]
  await expect(kafka.produce(records)).rejects.toThrow(TopicUnavailable)
})

test('a large request is compressed: a topic takes a record that is larger than its limit, and it arrives whole', async () => {
  const medium = collect(kafka, 'medium')
  const value = Array.from({ length: 2000 }, () => randomUUID()).join('')
  await kafka.produce([aRecord('medium', 'a', value)])
  expect((await medium.atLeast(1)).map((record) => record.value?.toString())).toEqual([value])
})

test('what compression would shrink to almost nothing is sent as it is: consumers never hold far more than they fetch', async () => {
  await expect(kafka.produce([aRecord('medium', 'b', 'x'.repeat(200_000))])).rejects.toThrow(RecordsRefused)
})

test('before each attempt the sender is asked, and nothing more is sent once it may not', async () => {
  const answers = [true, true, false, true]
  const confirm = async () => {
    await pause(2)
    if (!answers.shift()) throw new Error('may not')
  }
  await expect(kafka.produce([aRecord('unwritable', 'a', 'x')], confirm)).rejects.toThrow('may not')
  expect(answers).toEqual([true])
})

test('a group that has read nothing has all records before it', async () => {
  await kafka.produce([aRecord('things', 'b', 'two')])
  const positions = await kafka.positions('nobody', ['things'])
  const all = await kafka.positions('nobody', ['things', 'order'])
  expect(positions.reduce((sum, { lag }) => sum + lag, 0)).toBe(2)
  expect(all).toHaveLength(6)
})

test('without a broker it starts all the same, and says which address does not answer', async () => {
  const nowhere = connectKafka({ brokers: ['127.0.0.1:1'], clientId: 'test', logger: silent })
  await nowhere.start()
  await expect(nowhere.reach()).rejects.toThrow(
    'connect ECONNREFUSED 127.0.0.1:1; if it demands TLS or a login, set KAFKA_TLS and KAFKA_SASL_MECHANISM',
  )
  await nowhere.stop()
})

test('a first broker that takes connections and never answers keeps nobody from the others', async () => {
  const address = await startMovingAddress('http://127.0.0.1:1')
  address.vanish()
  const brokers = [new URL(address.through('http://broker')).host, ...backingServices().kafkaBrokers]
  const connected = connectKafka({ brokers, clientId: 'test', prefix, logger: silent })
  const order = collect(connected, 'order')
  await connected.produce([aRecord('order', 'a', 'x')])
  await order.atLeast(1, 20_000)
  await connected.stop()
})

afterAll(() => {
  expect(warnings, 'a timer was set to a time in the past').not.toContain('TimeoutNegativeWarning')
})
