import { expect, test } from 'vitest'
import {
  ASSUMED_SLOW,
  afterAttempt,
  afterIdle,
  afterStall,
  type Concurrency,
  MAX_CONCURRENCY,
  UNKNOWN,
} from './concurrency.ts'

const delivered = { durationMs: 50, isDelivered: true }
const deliveredLate = { durationMs: 3000, isDelivered: true }
const refused = { durationMs: 50, isDelivered: false }
const timedOut = { durationMs: 20_000, isDelivered: false }
const NOW = 100_000

const after = (concurrency: Concurrency, ...attempts: (typeof delivered)[]) =>
  attempts.reduce((before, ended) => afterAttempt(before, ended, NOW), concurrency)
const times = (count: number, ended: typeof delivered) => Array.from({ length: count }, () => ended)

test('an endpoint that nothing is known of has two attempts in flight; each delivery adds one, up to 256 while answers are as quick', () => {
  expect(UNKNOWN).toMatchObject({ responsiveness: 'unknown', limit: 2 })
  expect(after(UNKNOWN, delivered)).toMatchObject({ responsiveness: 'quick', limit: 3 })
  expect(after(UNKNOWN, ...times(50, delivered))).toMatchObject({ responsiveness: 'quick', limit: 52 })
  expect(after(UNKNOWN, ...times(500, delivered))).toMatchObject({ responsiveness: 'quick', limit: MAX_CONCURRENCY })
})

test('an endpoint whose answers take longer with more in flight is back at ten after a round of them', () => {
  const raised = after(UNKNOWN, ...times(500, delivered))
  expect(after(raised, ...times(MAX_CONCURRENCY, { durationMs: 150, isDelivered: true }))).toMatchObject({
    responsiveness: 'quick',
    limit: 10,
  })
})

test('an endpoint that bears some attempts at once gets about as many', () => {
  // It works on 20 at once, and what is beyond them waits.
  let concurrency = UNKNOWN
  for (let count = 0; count < 2000; count++) {
    concurrency = afterAttempt(
      concurrency,
      { durationMs: 50 * Math.max(1, concurrency.limit / 20), isDelivered: true },
      NOW,
    )
  }
  expect(concurrency.limit).toBeGreaterThan(20)
  expect(concurrency.limit).toBeLessThan(45)
})

test('an endpoint that has become slower for good gets more again once that is its average', () => {
  const raised = after(UNKNOWN, ...times(500, delivered))
  const slower = { durationMs: 200, isDelivered: true }
  expect(after(raised, ...times(MAX_CONCURRENCY, slower)).limit).toBe(10)
  expect(after(raised, ...times(1000, slower)).limit).toBe(MAX_CONCURRENCY)
})

test('a failure takes half of what is beyond ten at once, and a time-out all of it', () => {
  const raised = after(UNKNOWN, ...times(500, delivered))
  const limits = [1, 2, 3, 4, 5].map((count) => after(raised, ...times(count, refused)).limit)
  expect(limits).toEqual([128, 64, 32, 16, 10])
  expect(after(raised, timedOut)).toMatchObject({ responsiveness: 'slow', limit: 10 })
  expect(afterStall(raised, NOW)).toMatchObject({ responsiveness: 'slow', limit: 10 })
  expect(after(raised, deliveredLate)).toMatchObject({ responsiveness: 'slow', limit: 10 })
})

test('each time-out halves the attempts in flight, down to one', () => {
  const quick = after(UNKNOWN, ...times(8, delivered))
  const limits = [1, 2, 3, 4].map((count) => after(quick, ...times(count, timedOut)).limit)
  expect(limits).toEqual([5, 2, 1, 1])
  expect(after(quick, timedOut).responsiveness).toBe('slow')
})

test('a failure that comes quickly changes nothing with few in flight: it holds nobody up', () => {
  expect(after(UNKNOWN, refused)).toMatchObject({ responsiveness: 'quick', limit: 2 })
})

test('an endpoint that asked for a pause begins anew: two, and those of a slow one stay slow', () => {
  const asked = { isDelivered: false, retryAfterMs: 1000 }
  const known = { responsiveness: 'quick', limit: 100, averageMs: 10, learntAt: 0 } as const
  expect(afterAttempt(known, { ...asked, durationMs: 10 }, 5)).toEqual({
    ...known,
    responsiveness: 'unknown',
    limit: 2,
    learntAt: 5,
  })
  expect(afterAttempt(known, { ...asked, durationMs: 2000 }, 5)).toMatchObject({ responsiveness: 'slow', limit: 2 })
  expect(afterAttempt({ ...known, limit: 1 }, { ...asked, durationMs: 10 }, 5).limit).toBe(1)
})

test('an endpoint that takes its time and delivers is slow, and has more in flight with each delivery', () => {
  expect(after(UNKNOWN, deliveredLate, deliveredLate)).toMatchObject({ responsiveness: 'slow', limit: 4 })
})

test('one quick answer and an endpoint is no longer slow', () => {
  expect(after(ASSUMED_SLOW, refused)).toMatchObject({ responsiveness: 'quick', limit: 1 })
  expect(after(ASSUMED_SLOW, timedOut, delivered)).toMatchObject({ responsiveness: 'quick', limit: 2 })
})

test('a stall makes an endpoint slow, with half of the attempts in flight', () => {
  expect(afterStall(after(UNKNOWN, ...times(8, delivered)), NOW)).toMatchObject({ responsiveness: 'slow', limit: 5 })
})

test('after some seconds without an attempt an endpoint starts with two again', () => {
  const quick = after(UNKNOWN, ...times(8, delivered))
  expect(afterIdle(quick, NOW + 1000).limit).toBe(10)
  expect(afterIdle(quick, NOW + 10_000)).toMatchObject({ responsiveness: 'quick', limit: 2 })
  expect(afterIdle(after(ASSUMED_SLOW, timedOut), NOW + 10_000)).toMatchObject({ responsiveness: 'slow', limit: 1 })
})
