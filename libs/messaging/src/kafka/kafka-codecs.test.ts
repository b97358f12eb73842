import { randomUUID } from 'node:crypto'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { ungzip, unlz4, unsnappy, unzstd } from './kafka-codecs.ts'
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
  expect(unsnappy(Buffer.from('\x11\x14hello \x1d\x06', 'latin1'), 17).toString()).toBe('hello hello hello')
})

const FRAME = '\x04\x22\x4d\x18\x60\x40\x82'
test.each([
  ['snappy that repeats what is not there', unsnappy, '\x05\x01\x09'],
  ['snappy that ends early', unsnappy, '\x05\x10ab'],
  ['snappy that has less than it says', unsnappy, '\x05\x04ab'],
  ['LZ4 that repeats what is not there', unlz4, `${FRAME}\x03\0\0\0\x00\x09\0`],
  ['LZ4 that ends early', unlz4, `${FRAME}\x03\0\0\0\x50ab\0\0\0\0`],
  ['LZ4 with another beginning', unlz4, 'no frame'],
])('%s is refused', (_what, read, bytes) => {
  expect(() => read(Buffer.from(bytes, 'latin1'), 1000)).toThrow(RangeError)
})

test('a few bytes that stand for many are refused: they do not take the memory of the process', async () => {
  const many = Buffer.alloc(10_000, 'x')
  await expect(ungzip(gzipSync(many), 9999)).rejects.toThrow(RangeError)
  await expect(unzstd(zstdCompressSync(many), 9999)).rejects.toThrow(RangeError)
  // One literal, and its repetition 20 + 255 × 200 times.
  const block = Buffer.concat([
    Buffer.from('\x1fx\x01\0', 'latin1'),
    Buffer.alloc(200, 255),
    Buffer.from('\x01', 'latin1'),
  ])
  const size = Buffer.from([block.length, 0, 0, 0])
  const frame = Buffer.concat([Buffer.from(FRAME, 'latin1'), size, block, Buffer.alloc(4)])
  expect(unlz4(frame, 60_000).toString()).toBe('x'.repeat(1 + 15 + 255 * 200 + 1 + 4))
  expect(() => unlz4(frame, 50_000)).toThrow(RangeError)
  expect(() => unsnappy(Buffer.from('\x65\0x\xfe\x01\0\x8a\x01\0', 'latin1'), 99)).toThrow(RangeError)
})
