import { expect, test } from 'vitest'
import { Backlog } from './backlog.ts'
import { readBacklog } from './testing/read-backlog.ts'

const at = (second: number) => new Date(second * 1000)

test('an endpoint is due when the first of its deliveries is', () => {
  const backlog = readBacklog()
  backlog.note('a', at(20))
  backlog.note('a', at(10))
  backlog.note('b', at(30))
  expect(backlog.nextDueAt).toEqual(at(10))
  expect(backlog.due(at(9))).toEqual([])
  expect(backlog.due(at(10))).toEqual(['a'])
  expect(backlog.nextDueAt).toEqual(at(30))
  expect(backlog.due(at(30))).toEqual(['a', 'b'])
  expect(backlog.nextDueAt).toBeUndefined()
})

test('once all that was due is claimed an endpoint is due when the next of its deliveries is', () => {
  const backlog = readBacklog()
  backlog.note('a', at(10), true)
  backlog.note('a', at(10.3))
  expect(backlog.due(at(10))).toEqual(['a'])
  backlog.clear('a', at(10), backlog.notes)
  expect(backlog.due(at(10.2))).toEqual([])
  expect(backlog.nextDueAt).toEqual(at(10.3))
  expect(backlog.due(at(10.3))).toEqual(['a'])
  backlog.clear('a', at(10.3), backlog.notes)
  expect([backlog.due(at(99)), backlog.nextDueAt]).toEqual([[], undefined])
})

test('deliveries due closely one after the other are due at the first of these times, and all of them ten milliseconds later', () => {
  const backlog = readBacklog()
  for (const ms of [1001, 1002, 1003, 1009]) backlog.note('a', new Date(ms))
  expect(backlog.due(new Date(1000))).toEqual([])
  expect(backlog.due(new Date(1001))).toEqual(['a'])
  backlog.clear('a', new Date(1001), backlog.notes)
  expect(backlog.nextDueAt).toEqual(new Date(1010))
  expect(backlog.due(new Date(1010))).toEqual(['a'])
  backlog.clear('a', new Date(1010), backlog.notes)
  expect(backlog.nextDueAt).toBeUndefined()
})

test('however many deliveries wait for an endpoint, the earliest of them are known', () => {
  const backlog = readBacklog()
  for (let second = 1000; second > 0; second--) backlog.note('a', at(second))
  for (let second = 1; second <= 10; second++) {
    expect(backlog.nextDueAt).toEqual(at(second))
    expect(backlog.due(at(second))).toEqual(['a'])
    backlog.clear('a', at(second), backlog.notes)
  }
})

test('an endpoint has waiting first attempts until all that were due are claimed, whatever else waits', () => {
  const backlog = readBacklog()
  backlog.note('a', at(10), true)
  backlog.note('a', at(10))
  expect(backlog.hasWaitingFirstAttempts('a')).toBe(true)
  const before = backlog.notes
  backlog.note('a', at(10), true)
  backlog.noteFirstAttemptsClaimed('a', before)
  expect(backlog.hasWaitingFirstAttempts('a'), 'more may have come').toBe(true)
  backlog.noteFirstAttemptsClaimed('a', backlog.notes)
  expect(backlog.hasWaitingFirstAttempts('a')).toBe(false)
  expect(backlog.due(at(10))).toEqual(['a'])
})

test('until the table has been read through an endpoint has waiting first attempts, unless all of them were claimed', () => {
  const backlog = new Backlog()
  expect(backlog.hasWaitingFirstAttempts('a')).toBe(true)
  backlog.note('a', at(10))
  expect(backlog.hasWaitingFirstAttempts('a')).toBe(true)
  backlog.noteFirstAttemptsClaimed('a', backlog.notes)
  backlog.clear('a', at(10), backlog.notes)
  expect([backlog.hasWaitingFirstAttempts('a'), backlog.hasWaitingFirstAttempts('b')]).toEqual([false, true])
  backlog.noteReadThrough()
  expect(backlog.hasWaitingFirstAttempts('b')).toBe(false)
})

test('what is noted while the table is asked is not forgotten with the answer', () => {
  const backlog = readBacklog()
  backlog.note('a', at(10))
  const before = backlog.notes
  backlog.note('a', at(10), true)
  backlog.clear('a', at(10), before)
  expect(backlog.due(at(10))).toEqual(['a'])
})

test('endpoints take turns', () => {
  const backlog = readBacklog()
  for (const endpointId of ['a', 'b', 'c']) backlog.note(endpointId, at(10))
  expect(backlog.due(at(10))).toEqual(['a', 'b', 'c'])
  backlog.hadTurn('a')
  expect(backlog.due(at(10))).toEqual(['b', 'c', 'a'])
})

test('one that is parked is passed over until it is unparked, and comes last then', () => {
  const backlog = readBacklog()
  for (const endpointId of ['a', 'b', 'c']) backlog.note(endpointId, at(10))
  backlog.due(at(10))
  backlog.park('a')
  backlog.park('b')
  backlog.note('b', at(10))
  expect(backlog.due(at(20))).toEqual(['c'])
  backlog.unpark('b')
  backlog.unpark('nobody')
  expect(backlog.due(at(20))).toEqual(['c', 'b'])
  backlog.unparkAll()
  expect(backlog.due(at(20))).toEqual(['c', 'b', 'a'])
})

test('one that rests is not due before its rest is over', () => {
  const backlog = readBacklog()
  backlog.note('a', at(10))
  backlog.due(at(10))
  backlog.rest('a', at(20))
  expect(backlog.due(at(19))).toEqual([])
  backlog.note('a', at(11))
  expect(backlog.due(at(19))).toEqual([])
  expect(backlog.due(at(20))).toEqual(['a'])
})
