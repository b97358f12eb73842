import { expect, test } from 'vitest'
import { type Pace, paceAfter, paceInSilence, paceRecalled, SUSPECT, UNKNOWN } from './pace.ts'

const delivered = { durationMs: 50, isDelivered: true }
const deliveredLate = { durationMs: 3000, isDelivered: true }
const refused = { durationMs: 50, isDelivered: false }
const timedOut = { durationMs: 20_000, isDelivered: false }
const NOW = 100_000

const after = (pace: Pace, ...attempts: (typeof delivered)[]) =>
  attempts.reduce((before, ended) => paceAfter(before, ended, NOW), pace)
const times = (count: number, ended: typeof delivered) => Array.from({ length: count }, () => ended)

test('an endpoint that nothing is known of has two attempts in flight; each delivery adds one, up to ten', () => {
  expect(UNKNOWN).toMatchObject({ standing: 'unknown', width: 2 })
  expect(after(UNKNOWN, delivered)).toMatchObject({ standing: 'quick', width: 3 })
  expect(after(UNKNOWN, ...times(20, delivered))).toMatchObject({ standing: 'quick', width: 10 })
})

test('each time-out halves the attempts in flight, down to one', () => {
  const quick = after(UNKNOWN, ...times(8, delivered))
  const widths = [1, 2, 3, 4].map((count) => after(quick, ...times(count, timedOut)).width)
  expect(widths).toEqual([5, 2, 1, 1])
  expect(after(quick, timedOut).standing).toBe('slow')
})

test('a failure that comes quickly changes nothing: it holds nobody up', () => {
  expect(after(UNKNOWN, refused)).toMatchObject({ standing: 'quick', width: 2 })
})

test('an endpoint that takes its time and delivers is slow, and has more in flight with each delivery', () => {
  expect(after(UNKNOWN, deliveredLate, deliveredLate)).toMatchObject({ standing: 'slow', width: 4 })
})

test('one quick answer and an endpoint is no longer slow', () => {
  expect(after(SUSPECT, refused)).toMatchObject({ standing: 'quick', width: 1 })
  expect(after(SUSPECT, timedOut, delivered)).toMatchObject({ standing: 'quick', width: 2 })
})

test('silence makes an endpoint slow, with half of the attempts in flight', () => {
  expect(paceInSilence(after(UNKNOWN, ...times(8, delivered)), NOW)).toMatchObject({ standing: 'slow', width: 5 })
})

test('after some seconds without an attempt an endpoint starts with two again', () => {
  const quick = after(UNKNOWN, ...times(8, delivered))
  expect(paceRecalled(quick, NOW + 1000).width).toBe(10)
  expect(paceRecalled(quick, NOW + 10_000)).toMatchObject({ standing: 'quick', width: 2 })
  expect(paceRecalled(after(SUSPECT, timedOut), NOW + 10_000)).toMatchObject({ standing: 'slow', width: 1 })
})
