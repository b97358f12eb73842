import { expect, it } from 'vitest'
import { END, type IncomingRecord } from './kafka-connection.ts'
import { readRange } from './read-range.ts'
import { aTopic, testKafka } from './testing/kafka.ts'

const { kafka, open } = await testKafka([aTopic('things')])

it('a record with very many headers is read at once, each of them as it was sent', async () => {
  const from = await kafka.offsetsAt(['things'], END)
  const names = Array.from({ length: 30_000 }, (_, number) => `h${number}`)
  const headers = { ...Object.fromEntries(names.map((name) => [name, name])), twice: ['one', 'two'], constructor: 'x' }
  await kafka.produce([{ topic: 'things', key: 'key', value: Buffer.from('value'), headers }])
  const until = await kafka.offsetsAt(['things'], END)
  const read: IncomingRecord[] = []
  await readRange(open(), {
    topics: ['things'],
    range: { from, until },
    idleTimeoutMs: 20_000,
    onRecords: async (records) => void read.push(...records),
  })
  const [record] = read
  const text = ([name, value]: [string, unknown]) => [name, [value].flat().map(String)]
  expect(Object.entries(record?.headers ?? {}).map(text)).toEqual(Object.entries(headers).map(text))
})
