import { expect, it } from 'vitest'
import { priceRange } from './pricing.ts'

it('gives the lowest and highest amount of each currency over the variants (OP-10)', () => {
  expect(priceRange([{ NGN: 500, USD: 3 }, { NGN: 200 }, { USD: 9, NGN: 300 }])).toEqual({
    min: { NGN: 200, USD: 3 },
    max: { NGN: 500, USD: 9 },
  })
})

it('counts an amount of zero', () => {
  expect(priceRange([{ NGN: 0 }, { NGN: 5 }])).toEqual({ min: { NGN: 0 }, max: { NGN: 5 } })
})

it('is empty maps without prices (OP-09)', () => {
  expect(priceRange([{}, {}])).toEqual({ min: {}, max: {} })
})
