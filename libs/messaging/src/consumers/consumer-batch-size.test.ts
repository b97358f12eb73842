import { expect, test } from 'vitest'
import { testConsumer } from './testing/consumer.ts'

const notes = await testConsumer()

test('a consumer that is asked how many records it takes at once is told how many are at hand, and none is left out', async () => {
  const key = notes.aKey()
  const names = Array.from({ length: 10 }, (_, index) => String(index))
  await notes.send(key, ...names)
  const atHand: number[] = []
  const handled: number[] = []
  await notes.start(
    async (records, tx) => {
      handled.push(records.length)
      return notes.insert(records, tx)
    },
    {},
    {
      async batchSize(count) {
        atHand.push(count)
        return 4
      },
    },
  )
  expect(await notes.notesOf(key, 10)).toEqual(names)
  expect(atHand).toEqual([10, 6, 2])
  expect(handled).toEqual([4, 4, 2])
})

test('after many records a consumer that gathers them waits, and handles the next ones together', async () => {
  const key = notes.aKey()
  const names = Array.from({ length: 40 }, (_, index) => String(index))
  await notes.send(key, ...names.slice(0, 30))
  const handled: number[] = []
  await notes.start(
    async (records, tx) => {
      handled.push(records.length)
      return notes.insert(records, tx)
    },
    {},
    { gatherMs: 5000 },
  )
  await notes.notesOf(key, 30)
  await notes.send(key, ...names.slice(30, 38))
  await notes.send(key, ...names.slice(38))
  expect(await notes.notesOf(key, 40)).toEqual(names)
  expect(handled).toEqual([30, 10])
})

test('records that come one by one in a stream are handled several at a time', async () => {
  const key = notes.aKey()
  const handled: number[] = []
  await notes.start(
    async (records, tx) => {
      const own = records.filter((record) => record.key === key)
      if (own.length > 0) handled.push(own.length)
      return notes.insert(records, tx)
    },
    {},
    { streamMs: () => 5000 },
  )
  // The second one comes soon after the first: the consumer waits before it asks for more.
  await notes.send(key, 'a')
  await notes.notesOf(key, 1)
  await notes.send(key, 'b')
  await notes.notesOf(key, 2)
  for (const name of ['c', 'd', 'e']) await notes.send(key, name)
  expect(await notes.notesOf(key, 5)).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(handled).toEqual([1, 1, 3])
})
