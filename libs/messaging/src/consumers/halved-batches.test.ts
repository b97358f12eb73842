import { expect, test } from 'vitest'
import type { IncomingRecord } from '../kafka/kafka-connection.ts'
import { HalvedBatches } from './halved-batches.ts'

const aRecord = (offset: number, partition = 0): IncomingRecord => ({
  topic: 'notes',
  partition,
  offset: String(offset),
  key: 'a',
  value: null,
  headers: {},
  producedAt: new Date(0),
})

/** Handles these offsets as a consumer does; returns the batches that were tried and the records given up. */
function consumed(offsets: readonly number[], isTooLong: (offsets: readonly number[]) => boolean) {
  const batches = new HalvedBatches()
  const [tried, dead]: [number[][], number[]] = [[], []]
  for (let left = offsets.map((offset) => aRecord(offset)); left.length > 0; ) {
    const records = batches.next(left)
    const numbers = records.map(({ offset }) => Number(offset))
    tried.push(numbers)
    if (isTooLong(numbers)) {
      if (batches.halve(records)) continue
      dead.push(...numbers)
    }
    const last = records.at(-1)
    if (last) batches.processed(last)
    left = left.slice(records.length)
  }
  return { tried, dead }
}

test('a batch is halved until the record that takes too long is alone; each half is tried once', () => {
  const { tried, dead } = consumed([3, 4, 5, 6, 7, 9, 10, 11], (offsets) => offsets.includes(5))
  expect(tried).toEqual([[3, 4, 5, 6, 7, 9, 10, 11], [3, 4, 5, 6], [3, 4], [5, 6], [5], [6], [7, 9, 10, 11]])
  expect(dead).toEqual([5])
})

test('records that take too long only together are all processed, in halves', () => {
  const { tried, dead } = consumed([0, 1, 2, 3, 4], (offsets) => offsets.length > 2)
  expect(tried).toEqual([[0, 1, 2, 3, 4], [0, 1], [2, 3, 4], [2], [3, 4]])
  expect(dead).toEqual([])
})

test('once the halves are processed batches are as large as before', () => {
  const batches = new HalvedBatches()
  const records = [aRecord(0), aRecord(1)]
  batches.halve(records)
  expect(batches.next(records)).toHaveLength(1)
  batches.processed(aRecord(1))
  expect(batches.next([aRecord(2), aRecord(3)])).toHaveLength(2)
})

test('a partition’s batches are not halved because of another’s', () => {
  const batches = new HalvedBatches()
  batches.halve([aRecord(0, 1), aRecord(1, 1)])
  expect(batches.next([aRecord(0, 2), aRecord(1, 2)])).toHaveLength(2)
})

test('a partition that others have had since is not halved', () => {
  const batches = new HalvedBatches()
  const [kept, lost] = [
    [aRecord(0, 1), aRecord(1, 1)],
    [aRecord(0, 2), aRecord(1, 2)],
  ]
  batches.halve(kept)
  batches.halve(lost)
  batches.keepOnly(new Set(['notes/1']))
  expect(batches.next(kept)).toHaveLength(1)
  expect(batches.next(lost)).toHaveLength(2)
})

test('ends that records have passed since, as with another member, limit nothing', () => {
  const batches = new HalvedBatches()
  batches.halve([aRecord(0), aRecord(1), aRecord(2), aRecord(3)])
  expect(batches.next([aRecord(7), aRecord(8)])).toHaveLength(2)
})
