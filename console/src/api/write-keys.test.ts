import { expect, it } from 'vitest'
import { answered, keyOf } from './write-keys.ts'

const MINUTE_MS = 60_000

const payment = (amount: number, now = 0, headers = {}) =>
  keyOf(
    new Request('https://shop.example/payments', { method: 'POST', body: JSON.stringify({ amount }), headers }),
    now,
  )

it('sends a write again under its former key until it has an answer', async () => {
  const first = await payment(1250)
  expect(await payment(1250)).toBe(first)
  expect(await payment(1300)).not.toBe(first)
  for (const status of [401, 403, 429, 500, 503, 504]) answered(first, status)
  expect(await payment(1250)).toBe(first)
  answered(first, 201)
  expect(await payment(1250)).not.toBe(first)
})

it('takes what is sent hours later for another write, and what is sent again and again for the same', async () => {
  const first = await payment(99, 0)
  expect(await payment(99, 8 * MINUTE_MS)).toBe(first)
  expect(await payment(99, 16 * MINUTE_MS)).toBe(first)
  expect(await payment(99, 6 * 60 * MINUTE_MS)).not.toBe(first)
})

it('takes what has a key of its own for the same write until it has an answer', async () => {
  const headers = { 'idempotency-key': 'of a form' }
  const first = await payment(7, 0, headers)
  expect(await payment(7, 6 * 60 * MINUTE_MS, headers)).toBe(first)
  answered(first, 201)
  expect(await payment(7, 6 * 60 * MINUTE_MS, headers)).not.toBe(first)
})
