import { expect, test } from 'vitest'
import { SHARDS } from '../shards/shard-of.ts'
import { DueEndpoints } from './due-endpoints.ts'

/** Endpoints of the shards 10 to 13. */
const [A, B, C, D] = ['a', 'b', 'c', 'd'].map((last) => `0198c1a2-0000-7000-8000-00000000000${last}`) as [
  string,
  string,
  string,
  string,
]
const ALL = Array.from({ length: SHARDS }, (_, shard) => shard)

/** What is due, after the whole table was read. */
function known(shards: readonly number[] = ALL): DueEndpoints {
  const due = new DueEndpoints()
  due.beginReading(shards)
  due.endReading()
  return due
}

test('an endpoint is due when the first of its deliveries is', () => {
  const due = known()
  due.note(A, 20, false)
  due.note(A, 10, false)
  due.note(B, 30, false)
  expect(due.nextAt).toBe(10)
  expect(due.ready(9)).toEqual([])
  expect(due.ready(10)).toEqual([A])
  expect(due.nextAt).toBe(30)
  expect(due.ready(30)).toEqual([A, B])
  expect(due.nextAt).toBe(Number.POSITIVE_INFINITY)
})

test('once all that was due is read an endpoint is due when the next of its deliveries is', () => {
  const due = known()
  due.note(A, 10_000, true)
  due.note(A, 10_300, false)
  expect(due.ready(10_000)).toEqual([A])
  due.noteRead(A, 10_000, due.notes)
  expect(due.ready(10_200)).toEqual([])
  expect(due.nextAt).toBe(10_300)
  expect(due.ready(10_300)).toEqual([A])
  due.noteRead(A, 10_300, due.notes)
  expect([due.ready(99_000), due.nextAt]).toEqual([[], Number.POSITIVE_INFINITY])
})

test('deliveries due closely one after the other are due at the first of these times, and all of them ten milliseconds later', () => {
  const due = known()
  for (const ms of [1001, 1002, 1003, 1009]) due.note(A, ms, false)
  expect(due.ready(1000)).toEqual([])
  expect(due.ready(1001)).toEqual([A])
  due.noteRead(A, 1001, due.notes)
  expect(due.nextAt).toBe(1010)
  expect(due.ready(1010)).toEqual([A])
  due.noteRead(A, 1010, due.notes)
  expect(due.nextAt).toBe(Number.POSITIVE_INFINITY)
})

test('however many deliveries wait for an endpoint, the earliest of them are known', () => {
  const due = known()
  for (let second = 1000; second > 0; second--) due.note(A, second * 1000, false)
  for (let second = 1; second <= 10; second++) {
    expect(due.nextAt).toBe(second * 1000)
    expect(due.ready(second * 1000)).toEqual([A])
    due.noteRead(A, second * 1000, due.notes)
  }
})

test('fresh first attempts follow those in memory when none is in the table', () => {
  const due = known()
  expect(due.isComplete(A)).toBe(true)
  due.note(A, 10, false)
  expect(due.isComplete(A), 'a retry may be overtaken').toBe(true)
  due.note(A, 10, true)
  expect([due.isComplete(A), due.isComplete(B)]).toEqual([false, true])
  const before = due.notes
  due.note(A, 10, true)
  due.ready(10)
  due.noteRead(A, 10, before)
  expect(due.isComplete(A), 'more have come').toBe(false)
  due.noteRead(A, 10, due.notes)
  expect(due.isComplete(A)).toBe(true)
})

test('until the table was read through an endpoint has first attempts in it, unless its own were read', () => {
  const due = new DueEndpoints()
  expect([due.isKnown(A), due.isComplete(A)]).toEqual([false, false])
  due.note(A, 10, false)
  due.noteRead(A, 10, due.notes)
  expect(due.isComplete(A), 'only retries were read').toBe(false)
  due.note(A, 10, true)
  due.noteRead(A, 10, due.notes)
  expect([A, B].map((id) => due.isComplete(id))).toEqual([true, false])
  due.beginReading(ALL)
  expect(due.isComplete(B)).toBe(false)
  due.endReading()
  expect([A, B].map((id) => due.isComplete(id))).toEqual([true, true])
})

test('a reading of the table counts for the shards that were owned at its beginning, and are still at its end', () => {
  const due = new DueEndpoints()
  due.beginReading([10, 11])
  due.drop(new Set([11]))
  due.endReading()
  // Taken again since, and not read since.
  expect([A, B, C].map((id) => due.isKnown(id))).toEqual([true, false, false])
})

test('of a shard that is dropped nothing is left, and when it is taken again nothing is known of it', () => {
  const due = known()
  for (const id of [A, B, C]) due.note(id, 10, true)
  due.ready(10)
  due.park(B)
  due.note(B, 50, false)
  due.drop(new Set([10, 11]))
  due.unparkAll()
  expect(due.ready(99)).toEqual([C])
  expect([A, B, C].map((id) => due.isKnown(id))).toEqual([false, false, true])
  due.note(A, 100, true)
  expect(due.ready(100)).toEqual([C, A])
  due.noteRead(A, 100, due.notes)
  due.drop(new Set([10]))
  expect(due.isKnown(A)).toBe(false)
})

test('what is noted while the table is asked is not forgotten with the answer', () => {
  const due = known()
  due.note(A, 10, false)
  const before = due.notes
  due.note(A, 10, true)
  due.noteRead(A, 10, before)
  expect(due.ready(10)).toEqual([A])
})

test('endpoints take turns', () => {
  const due = known()
  for (const id of [A, B, C]) due.note(id, 10, false)
  expect(due.ready(10)).toEqual([A, B, C])
  due.hadTurn(A)
  expect(due.ready(10)).toEqual([B, C, A])
})

test('one that is parked is passed over until it is unparked, and comes last then', () => {
  const due = known()
  for (const id of [A, B, C]) due.note(id, 10, false)
  due.ready(10)
  due.park(A)
  due.park(B)
  due.note(B, 10, false)
  expect(due.ready(20)).toEqual([C])
  due.unpark(B)
  due.unpark(D)
  expect(due.ready(20)).toEqual([C, B])
  due.unparkAll()
  expect(due.ready(20)).toEqual([C, B, A])
})

test('one that is forgotten is not due until something is noted for it again', () => {
  const due = known()
  due.note(A, 10, true)
  due.ready(10)
  due.forget(A)
  expect(due.ready(99)).toEqual([])
  due.note(A, 100, true)
  expect(due.ready(100)).toEqual([A])
})
