import { describe, expect, test } from 'vitest'
import { type RateLimit, takeToken } from './token-bucket.ts'

const NOW = Date.UTC(2026, 0, 1)

/** Calls at the given times (milliseconds from NOW): for each, the tokens left, or `no`. */
function calls(limit: RateLimit, times: number[]): (number | 'no')[] {
  let bucket = 0
  return times.map((time) => {
    const taken = takeToken(bucket, limit, NOW + time)
    bucket = taken.fullAt
    return taken.isAllowed ? taken.remaining : 'no'
  })
}

describe('taking tokens', () => {
  const table: [string, RateLimit, number[], (number | 'no')[]][] = [
    ['a full bucket holds the burst', { perSecond: 1, burst: 3 }, [0, 0, 0, 0], [2, 1, 0, 'no']],
    ['a token grows back', { perSecond: 1, burst: 1 }, [0, 999, 1000, 1001], [0, 'no', 0, 'no']],
    ['a refused call takes nothing', { perSecond: 1, burst: 1 }, [0, 500, 600, 700, 1000], [0, 'no', 'no', 'no', 0]],
    ['it never holds more than the burst', { perSecond: 10, burst: 2 }, [0, 60_000, 60_000, 60_000], [1, 1, 0, 'no']],
    ['the average holds', { perSecond: 2, burst: 1 }, [0, 500, 1000, 1500], [0, 0, 0, 0]],
    [
      'thirds of a second are not lost to rounding',
      { perSecond: 3, burst: 3 },
      [0, 0, 0, 1000, 1000, 1000, 1000],
      [2, 1, 0, 2, 1, 0, 'no'],
    ],
    ['less than one a second', { perSecond: 0.1, burst: 1 }, [0, 9_990, 10_000], [0, 'no', 0]],
    ['a clock that goes back gives nothing away', { perSecond: 1, burst: 1 }, [5_000, 0], [0, 'no']],
  ]
  test.each(table)('%s', (_rule, limit, times, expected) => {
    expect(calls(limit, times)).toEqual(expected)
  })
})

test('a refusal says when the next token is there', () => {
  const empty = takeToken(0, { perSecond: 0.5, burst: 1 }, NOW).fullAt
  expect(takeToken(empty, { perSecond: 0.5, burst: 1 }, NOW + 500).retryAt).toBeCloseTo(NOW + 2000, 3)
})

test('the bucket is full again when every token has grown back', () => {
  let bucket = 0
  for (let count = 0; count < 5; count++) bucket = takeToken(bucket, { perSecond: 2, burst: 10 }, NOW).fullAt
  expect(bucket).toBe(NOW + 2500)
})

test('a limit lowered meanwhile counts at once, a raised one too', () => {
  let bucket = 0
  for (let count = 0; count < 100; count++) bucket = takeToken(bucket, { perSecond: 1, burst: 100 }, NOW).fullAt
  const lowered = { perSecond: 1, burst: 2 }
  const refused = takeToken(bucket, lowered, NOW)
  expect(refused.isAllowed).toBe(false)
  expect(takeToken(refused.fullAt, lowered, NOW + 1000).isAllowed).toBe(true)
  expect(takeToken(bucket, { perSecond: 1, burst: 101 }, NOW).isAllowed).toBe(true)
})
