import { describe, expect, test } from 'vitest'
import { delayAfter } from './retry-schedule.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const SCHEDULE = [0, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 6 * HOUR]

describe('delays count from the end of the attempt before (spec: Retries 2)', () => {
  test.each([
    [0, 0],
    [1, MINUTE],
    [2, 5 * MINUTE],
    [3, 30 * MINUTE],
    [4, 2 * HOUR],
    [5, 6 * HOUR],
  ])('after %i attempts', (attempts, expected) => {
    expect(delayAfter(attempts, SCHEDULE, 0)).toBe(expected)
  })
})

test('there is no seventh attempt', () => {
  expect(delayAfter(6, SCHEDULE, 0)).toBeUndefined()
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
    expect(delayAfter(attempts, SCHEDULE, jitter)).toBe(expected)
  })
})
