import { expect, test } from 'vitest'
import { retryAfterMs } from './retry-after.ts'

const NOW = new Date('2026-03-01T12:00:00Z')

const after = (status: number, header?: string | string[]) =>
  retryAfterMs(
    {
      durationMs: 10,
      failure: null,
      response: {
        status,
        headers: header === undefined ? {} : ({ 'retry-after': header } as Record<string, string>),
        body: Buffer.alloc(0),
        isTruncated: false,
      },
    },
    NOW,
  )

test.each([
  ['a number of seconds', '7', 7000],
  ['a date', 'Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
  ['more than five minutes', '3600', 300_000],
  ['a date in a year', 'Mon, 01 Mar 2027 12:00:00 GMT', 300_000],
  ['more seconds than a number has', '9'.repeat(400), 300_000],
])('%s of a 429 or 503 holds the endpoint, five minutes at most (OP-105)', (_, header, ms) => {
  expect([429, 503].map((status) => after(status, header))).toEqual([ms, ms])
})

test.each([
  ['nothing', undefined],
  ['zero', '0'],
  ['a date that is over', 'Sun, 01 Mar 2026 11:59:59 GMT'],
  ['a negative number', '-5'],
  ['a fraction', '1.5'],
  ['no time', 'soon'],
  ['an empty text', ''],
])('%s asks for no pause', (_, header) => {
  expect([429, 503].map((status) => after(status, header))).toEqual([undefined, undefined])
})

test('other answers, and none, ask for no pause', () => {
  expect([200, 301, 404, 410, 500, 502, 504].map((status) => after(status, '7'))).toEqual(Array(7).fill(undefined))
  expect(
    retryAfterMs({ durationMs: 1, failure: { class: 'timeout', message: 'x' }, response: null }, NOW),
  ).toBeUndefined()
})
