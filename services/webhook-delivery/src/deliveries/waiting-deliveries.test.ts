import { expect, test } from 'vitest'
import { readWaitingDeliveries } from './testing/read-waiting-deliveries.ts'
import { WaitingDeliveries } from './waiting-deliveries.ts'

const at = (second: number) => new Date(second * 1000)

test('an endpoint is due when the first of its deliveries is', () => {
  const waitingDeliveries = readWaitingDeliveries()
  waitingDeliveries.note('a', at(20))
  waitingDeliveries.note('a', at(10))
  waitingDeliveries.note('b', at(30))
  expect(waitingDeliveries.nextDueAt).toEqual(at(10))
  expect(waitingDeliveries.due(at(9))).toEqual([])
  expect(waitingDeliveries.due(at(10))).toEqual(['a'])
  expect(waitingDeliveries.nextDueAt).toEqual(at(30))
  expect(waitingDeliveries.due(at(30))).toEqual(['a', 'b'])
  expect(waitingDeliveries.nextDueAt).toBeUndefined()
})

test('once all that was due is claimed an endpoint is due when the next of its deliveries is', () => {
  const waitingDeliveries = readWaitingDeliveries()
  waitingDeliveries.note('a', at(10), true)
  waitingDeliveries.note('a', at(10.3))
  expect(waitingDeliveries.due(at(10))).toEqual(['a'])
  waitingDeliveries.clear('a', at(10), waitingDeliveries.notes)
  expect(waitingDeliveries.due(at(10.2))).toEqual([])
  expect(waitingDeliveries.nextDueAt).toEqual(at(10.3))
  expect(waitingDeliveries.due(at(10.3))).toEqual(['a'])
  waitingDeliveries.clear('a', at(10.3), waitingDeliveries.notes)
  expect([waitingDeliveries.due(at(99)), waitingDeliveries.nextDueAt]).toEqual([[], undefined])
})

test('deliveries due closely one after the other are due at the first of these times, and all of them ten milliseconds later', () => {
  const waitingDeliveries = readWaitingDeliveries()
  for (const ms of [1001, 1002, 1003, 1009]) waitingDeliveries.note('a', new Date(ms))
  expect(waitingDeliveries.due(new Date(1000))).toEqual([])
  expect(waitingDeliveries.due(new Date(1001))).toEqual(['a'])
  waitingDeliveries.clear('a', new Date(1001), waitingDeliveries.notes)
  expect(waitingDeliveries.nextDueAt).toEqual(new Date(1010))
  expect(waitingDeliveries.due(new Date(1010))).toEqual(['a'])
  waitingDeliveries.clear('a', new Date(1010), waitingDeliveries.notes)
  expect(waitingDeliveries.nextDueAt).toBeUndefined()
})

test('however many deliveries wait for an endpoint, the earliest of them are known', () => {
  const waitingDeliveries = readWaitingDeliveries()
  for (let second = 1000; second > 0; second--) waitingDeliveries.note('a', at(second))
  for (let second = 1; second <= 10; second++) {
    expect(waitingDeliveries.nextDueAt).toEqual(at(second))
    expect(waitingDeliveries.due(at(second))).toEqual(['a'])
    waitingDeliveries.clear('a', at(second), waitingDeliveries.notes)
  }
})

test('an endpoint has waiting first attempts until all that were due are claimed, whatever else waits', () => {
  const waitingDeliveries = readWaitingDeliveries()
  waitingDeliveries.note('a', at(10), true)
  waitingDeliveries.note('a', at(10))
  expect(waitingDeliveries.hasWaitingFirstAttempts('a')).toBe(true)
  const before = waitingDeliveries.notes
  waitingDeliveries.note('a', at(10), true)
  waitingDeliveries.noteFirstAttemptsClaimed('a', before)
  expect(waitingDeliveries.hasWaitingFirstAttempts('a'), 'more may have come').toBe(true)
  waitingDeliveries.noteFirstAttemptsClaimed('a', waitingDeliveries.notes)
  expect(waitingDeliveries.hasWaitingFirstAttempts('a')).toBe(false)
  expect(waitingDeliveries.due(at(10))).toEqual(['a'])
})

test('until the table has been read through an endpoint has waiting first attempts, unless all of them were claimed', () => {
  const waitingDeliveries = new WaitingDeliveries()
  expect(waitingDeliveries.hasWaitingFirstAttempts('a')).toBe(true)
  waitingDeliveries.note('a', at(10))
  expect(waitingDeliveries.hasWaitingFirstAttempts('a')).toBe(true)
  waitingDeliveries.noteFirstAttemptsClaimed('a', waitingDeliveries.notes)
  waitingDeliveries.clear('a', at(10), waitingDeliveries.notes)
  expect([waitingDeliveries.hasWaitingFirstAttempts('a'), waitingDeliveries.hasWaitingFirstAttempts('b')]).toEqual([
    false,
    true,
  ])
  waitingDeliveries.noteReadThrough()
  expect(waitingDeliveries.hasWaitingFirstAttempts('b')).toBe(false)
})

test('what is noted while the table is asked is not forgotten with the answer', () => {
  const waitingDeliveries = readWaitingDeliveries()
  waitingDeliveries.note('a', at(10))
  const before = waitingDeliveries.notes
  waitingDeliveries.note('a', at(10), true)
  waitingDeliveries.clear('a', at(10), before)
  expect(waitingDeliveries.due(at(10))).toEqual(['a'])
})

test('endpoints take turns', () => {
  const waitingDeliveries = readWaitingDeliveries()
  for (const endpointId of ['a', 'b', 'c']) waitingDeliveries.note(endpointId, at(10))
  expect(waitingDeliveries.due(at(10))).toEqual(['a', 'b', 'c'])
  waitingDeliveries.hadTurn('a')
  expect(waitingDeliveries.due(at(10))).toEqual(['b', 'c', 'a'])
})

test('one that is parked is passed over until it is unparked, and comes last then', () => {
  const waitingDeliveries = readWaitingDeliveries()
  for (const endpointId of ['a', 'b', 'c']) waitingDeliveries.note(endpointId, at(10))
  waitingDeliveries.due(at(10))
  waitingDeliveries.park('a')
  waitingDeliveries.park('b')
  waitingDeliveries.note('b', at(10))
  expect(waitingDeliveries.due(at(20))).toEqual(['c'])
  waitingDeliveries.unpark('b')
  waitingDeliveries.unpark('nobody')
  expect(waitingDeliveries.due(at(20))).toEqual(['c', 'b'])
  waitingDeliveries.unparkAll()
  expect(waitingDeliveries.due(at(20))).toEqual(['c', 'b', 'a'])
})

test('one that rests is not due before its rest is over', () => {
  const waitingDeliveries = readWaitingDeliveries()
  waitingDeliveries.note('a', at(10))
  waitingDeliveries.due(at(10))
  waitingDeliveries.rest('a', at(20))
  expect(waitingDeliveries.due(at(19))).toEqual([])
  waitingDeliveries.note('a', at(11))
  expect(waitingDeliveries.due(at(19))).toEqual([])
  expect(waitingDeliveries.due(at(20))).toEqual(['a'])
})
