import { expect, test } from 'vitest'
import { type Pace, paceAfter, paceInSilence, paceRecalled, SUSPECT, UNKNOWN, WIDEST } from './pace.ts'

const delivered = { durationMs: 50, isDelivered: true }
const deliveredLate = { durationMs: 3000, isDelivered: true }
const refused = { durationMs: 50, isDelivered: false }
const timedOut = { durationMs: 20_000, isDelivered: false }
const NOW = 100_000

const after = (pace: Pace, ...attempts: (typeof delivered)[]) =>
  attempts.reduce((before, ended) => paceAfter(before, ended, NOW), pace)
const times = (count: number, ended: typeof delivered) => Array.from({ length: count }, () => ended)

test('an endpoint that nothing is known of has two attempts in flight; each delivery adds one, up to 128 while answers are as quick', () => {
  expect(UNKNOWN).toMatchObject({ standing: 'unknown', width: 2 })
  expect(after(UNKNOWN, delivered)).toMatchObject({ standing: 'quick', width: 3 })
  expect(after(UNKNOWN, ...times(50, delivered))).toMatchObject({ standing: 'quick', width: 52 })
  expect(after(UNKNOWN, ...times(500, delivered))).toMatchObject({ standing: 'quick', width: WIDEST })
})

test('an endpoint whose answers take longer with more in flight is back at ten after a round of them', () => {
  const wide = after(UNKNOWN, ...times(500, delivered))
  expect(after(wide, ...times(WIDEST, { durationMs: 150, isDelivered: true }))).toMatchObject({
    standing: 'quick',
    width: 10,
  })
})

test('an endpoint that bears some attempts at once gets about as many', () => {
  // It works on 20 at once, and what is beyond them waits.
  let pace = UNKNOWN
  for (let count = 0; count < 2000; count++) {
    pace = paceAfter(pace, { durationMs: 50 * Math.max(1, pace.width / 20), isDelivered: true }, NOW)
  }
  expect(pace.width).toBeGreaterThan(20)
  expect(pace.width).toBeLessThan(45)
})

test('an endpoint that has become slower for good gets more again once that is what is usual', () => {
  const wide = after(UNKNOWN, ...times(500, delivered))
  const slower = { durationMs: 200, isDelivered: true }
  expect(after(wide, ...times(130, slower)).width).toBe(10)
  expect(after(wide, ...times(500, slower)).width).toBe(WIDEST)
})

test('a failure takes half of what is beyond ten at once, and a time-out all of it', () => {
  const wide = after(UNKNOWN, ...times(500, delivered))
  const widths = [1, 2, 3, 4, 5].map((count) => after(wide, ...times(count, refused)).width)
  expect(widths).toEqual([64, 32, 16, 10, 10])
  expect(after(wide, timedOut)).toMatchObject({ standing: 'slow', width: 10 })
  expect(paceInSilence(wide, NOW)).toMatchObject({ standing: 'slow', width: 10 })
  expect(after(wide, deliveredLate)).toMatchObject({ standing: 'slow', width: 10 })
})

test('each time-out halves the attempts in flight, down to one', () => {
  const quick = after(UNKNOWN, ...times(8, delivered))
  const widths = [1, 2, 3, 4].map((count) => after(quick, ...times(count, timedOut)).width)
  expect(widths).toEqual([5, 2, 1, 1])
  expect(after(quick, timedOut).standing).toBe('slow')
})

test('a failure that comes quickly changes nothing with few in flight: it holds nobody up', () => {
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
