import { describe, expect, test } from 'vitest'
import { nextAttemptAt } from './retry-schedule.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const SCHEDULE = [0, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR]
const endedAt = new Date('2026-03-01T12:00:00.000Z')

describe('delays count from the end of the attempt before (spec: Retries 2)', () => {
  test.each([
    [0, '2026-03-01T12:00:00.000Z'],
    [1, '2026-03-01T12:01:00.000Z'],
    [2, '2026-03-01T12:05:00.000Z'],
    [3, '2026-03-01T12:30:00.000Z'],
    [4, '2026-03-01T14:00:00.000Z'],
    [5, '2026-03-01T18:00:00.000Z'],
  ])('after %i attempts', (attempts, expected) => {
    expect(nextAttemptAt(attempts, endedAt, SCHEDULE, 0)?.toISOString()).toBe(expected)
  })
})

test('there is no seventh attempt', () => {
  expect(nextAttemptAt(6, endedAt, SCHEDULE, 0)).toBeUndefined()
})

describe('jitter adds at most a tenth of the delay and never takes away (OP-65)', () => {
  test.each([
    [0, 0, 0],
    [0, 1, 0],
    [1, 0, MINUTE],
    [1, 0.5, 63_000],
    [1, 1, 66_000],
    [5, 1, 6.6 * HOUR],
  ])('after %i attempts with jitter %f', (attempts, jitter, expected) => {
    expect(nextAttemptAt(attempts, endedAt, SCHEDULE, jitter)?.getTime()).toBe(endedAt.getTime() + expected)
  })
})
