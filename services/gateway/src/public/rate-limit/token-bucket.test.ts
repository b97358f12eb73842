import { describe, expect, test } from 'vitest'
import { type Bucket, fullAt, type RateLimit, takeToken } from './token-bucket.ts'

const NOW = Date.UTC(2026, 0, 1)

/** Calls at the given times (milliseconds from NOW): for each, the whole tokens left, or `no`. */
function calls(limit: RateLimit, times: number[]): (number | 'no')[] {
  let bucket: Bucket | undefined
  return times.map((time) => {
    const taken = takeToken(bucket, limit, NOW + time)
    bucket = taken.bucket
    return taken.waitMs === undefined ? Math.floor(bucket.tokens) : 'no'
  })
}

/** A bucket after that many calls at NOW. */
function after(count: number, limit: RateLimit): Bucket | undefined {
  let bucket: Bucket | undefined
  for (let taken = 0; taken < count; taken++) bucket = takeToken(bucket, limit, NOW).bucket
  return bucket
}

describe('taking tokens', () => {
  const table: [string, RateLimit, number[], (number | 'no')[]][] = [
    ['a full bucket holds the burst', { perSecond: 1, burst: 3 }, [0, 0, 0, 0], [2, 1, 0, 'no']],
    ['a token grows back', { perSecond: 1, burst: 1 }, [0, 999, 1000, 1001], [0, 'no', 0, 'no']],
    ['a refused call takes nothing', { perSecond: 1, burst: 1 }, [0, 500, 600, 700, 1000], [0, 'no', 'no', 'no', 0]],
    ['it never holds more than the burst', { perSecond: 10, burst: 2 }, [0, 60_000, 60_000, 60_000], [1, 1, 0, 'no']],
    ['the average holds', { perSecond: 2, burst: 1 }, [0, 500, 1000, 1500], [0, 0, 0, 0]],
    ['thirds add up', { perSecond: 1, burst: 1 }, [0, 333, 666, 999, 1000], [0, 'no', 'no', 'no', 0]],
    ['sevenths add up', { perSecond: 7, burst: 7 }, [0, 0, 0, 0, 0, 0, 0, 1000, 1000], [6, 5, 4, 3, 2, 1, 0, 6, 5]],
    ['less than one a second', { perSecond: 0.1, burst: 1 }, [0, 9_999, 10_000], [0, 'no', 0]],
    ['many a second', { perSecond: 100_000, burst: 1_000_000 }, [0, 0, 0], [999_999, 999_998, 999_997]],
    ['a clock that goes back gives nothing away', { perSecond: 1, burst: 1 }, [5_000, 0, 5_999], [0, 'no', 'no']],
    ['one that is set back counts on', { perSecond: 1, burst: 1 }, [60_000, 0, 999, 1000], [0, 'no', 'no', 0]],
  ]
  test.each(table)('%s', (_rule, limit, times, expected) => {
    expect(calls(limit, times)).toEqual(expected)
  })
})

test('a refusal says when the next token is there', () => {
  const limit = { perSecond: 0.5, burst: 1 }
  expect(takeToken(after(1, limit), limit, NOW + 500).waitMs).toBe(1500)
})

test('the bucket is full again when every token has grown back', () => {
  const limit = { perSecond: 2, burst: 10 }
  expect(fullAt(takeToken(after(4, limit), limit, NOW).bucket, limit)).toBe(NOW + 2500)
})

test('a lowered limit counts at once, and so does a raised one', () => {
  const lowered = { perSecond: 1, burst: 2 }
  const full = after(1, { perSecond: 1, burst: 100 })
  expect(takeToken(full, lowered, NOW).bucket.tokens).toBe(1)
  const empty = after(100, { perSecond: 1, burst: 100 })
  expect(takeToken(empty, { perSecond: 10, burst: 100 }, NOW + 100).waitMs).toBeUndefined()
})
