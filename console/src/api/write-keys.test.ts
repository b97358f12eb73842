import { expect, it } from 'vitest'
import { answered, keyOf } from './write-keys.ts'

const payment = (amount: number) =>
  keyOf(new Request('https://shop.example/payments', { method: 'POST', body: JSON.stringify({ amount }) }))

it('sends a write again under its former key until it has an answer', async () => {
  const first = await payment(1250)
  expect(await payment(1250)).toBe(first)
  expect(await payment(1300)).not.toBe(first)
  for (const status of [429, 500, 503, 504]) answered(first, status)
  expect(await payment(1250)).toBe(first)
  answered(first, 201)
  expect(await payment(1250)).not.toBe(first)
})
