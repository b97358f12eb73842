import { expect, test } from 'vitest'
import { Patience } from './patience.ts'

/** With a clock that the test sets, in milliseconds. */
function aClock() {
  let time = 0
  const patience = new Patience({ bugMs: 1000, longestWaitMs: 500 }, () => time)
  const at = (ms: number) => {
    time = ms
  }
  return { patience, at }
}
const [one, other] = ['notes/0', 'notes/1'] as const

test('waits grow until the longest, each by itself, and begin anew after a success', () => {
  const { patience } = aClock()
  expect([1, 2, 3, 4, 5].map(() => patience.failed(one))).toEqual([100, 200, 400, 500, 500])
  expect(patience.failed(other)).toBe(100)
  patience.succeeded(one)
  expect(patience.failed(one)).toBe(100)
})

test('the longest wait is measured', () => {
  const { patience, at } = aClock()
  expect(patience.longestSeconds()).toBe(0)
  patience.failed(one)
  at(2000)
  patience.failed(one)
  patience.failed(other)
  at(3000)
  expect(patience.longestSeconds()).toBe(3)
  patience.succeeded(one)
  expect(patience.longestSeconds()).toBe(1)
})

test('what others have now is forgotten: its waits and bugs begin anew', () => {
  const { patience, at } = aClock()
  patience.failed(one)
  patience.failed(other)
  patience.isOver(other)
  at(2000)
  patience.failed(one)
  patience.keepOnly(new Set([one]))
  expect([patience.seconds(one), patience.seconds(other), patience.waiting]).toEqual([2, 0, 1])
  expect([patience.failed(one), patience.failed(other)]).toEqual([400, 100])
  expect(patience.isOver(other)).toBe(false)
})

test('patience for bugs is over once for all that follow closely, and back after half an hour without one', () => {
  const { patience, at } = aClock()
  expect(patience.isOver(one)).toBe(false)
  at(999)
  expect(patience.isOver(one)).toBe(false)
  at(1000)
  expect(patience.isOver(one)).toBe(true)
  expect(patience.isOver(other)).toBe(false)
  at(30 * 60_000)
  expect(patience.isOver(one)).toBe(true)
  at(60 * 60_000 + 1)
  expect(patience.isOver(one)).toBe(false)
})

test('a bug that has passed by itself counts no longer', () => {
  const { patience, at } = aClock()
  patience.isOver(one)
  at(500)
  patience.succeeded(one)
  at(1500)
  expect(patience.isOver(one)).toBe(false)
})

test('a tenth of the patience is enough once other work has succeeded since the bug', () => {
  const { patience, at } = aClock()
  patience.succeeded(other)
  expect(patience.isOver(one)).toBe(false)
  at(100)
  expect(patience.isOver(one)).toBe(false)
  patience.succeeded(other)
  expect(patience.isOver(one)).toBe(true)
  expect(patience.isOver(other)).toBe(false)
})
