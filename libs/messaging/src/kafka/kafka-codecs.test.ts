import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { unlz4, unsnappy } from './kafka-codecs.ts'
import { aTopic, collect, testKafka } from './testing/kafka.ts'

const CODECS = ['uncompressed', 'gzip', 'snappy', 'lz4', 'zstd']
const { kafka } = await testKafka(CODECS.map((codec) => aTopic(codec, { 'compression.type': codec })))

/** Long and short repetitions, and what does not repeat: more than one block of each codec. */
const VALUES = [
  '',
  'x',
  'x'.repeat(100_000),
  Array.from({ length: 3000 }, () => randomUUID()).join(' and again '),
  JSON.stringify(Array.from({ length: 2000 }, (_, index) => ({ id: index, name: `name ${index % 7}` }))),
]

test.each(CODECS)('records that the broker keeps as %s arrive whole', async (topic) => {
  const collected = collect(kafka, topic)
  const records = VALUES.map((value) => ({ topic, key: 'a', value: Buffer.from(value), headers: {} }))
  await kafka.produce(records)
  await kafka.produce(records)
  const values = (await collected.atLeast(2 * VALUES.length)).map(({ value }) => value?.toString())
  expect(values).toEqual([...VALUES, ...VALUES])
})

test('snappy without frames is read, too', () => {
  expect(unsnappy(Buffer.from('\x11\x14hello \x1d\x06', 'latin1')).toString()).toBe('hello hello hello')
})

test.each([
  ['snappy', unsnappy, '\x05\x01\x09'],
  ['LZ4', unlz4, '\x04\x22\x4d\x18\x60\x40\x82\x03\0\0\0\x00\x09\0'],
])('%s that repeats what is not there is refused', (_codec, read, bytes) => {
  expect(() => read(Buffer.from(bytes, 'latin1'))).toThrow(RangeError)
})
