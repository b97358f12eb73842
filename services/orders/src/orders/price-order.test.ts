import { ApiError } from '@backoffice/contracts/errors.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { priceOrder } from './price-order.ts'

const SEED = 20_260_301
const MAX = Number.MAX_SAFE_INTEGER

const order = (lines: [quantity: number, unitPrice: number, negotiated?: number][], amounts: Partial<Amounts> = {}) =>
  priceOrder({
    lines: lines.map(([quantity, unitPrice, negotiatedUnitPrice = null]) => ({
      quantity,
      unitPrice,
      negotiatedUnitPrice,
    })),
    totalShipping: 0,
    totalTax: 0,
    totalDiscount: 0,
    ...amounts,
  })

interface Amounts {
  totalShipping: number
  totalTax: number
  totalDiscount: number
}

/** The refusal's code and message. */
function refusal(price: () => unknown): string {
  try {
    price()
  } catch (error) {
    if (error instanceof ApiError) return `${error.code}: ${error.message}`
    throw error
  }
  throw new Error('it has a price')
}

// Small amounts, and ones whose products and sums are about the highest there can be.
const amount = fc.oneof(fc.integer({ min: 0, max: 10_000 }), fc.maxSafeNat(), fc.constantFrom(0, MAX, 94_906_265))
const quantity = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constantFrom(1, 94_906_266, MAX))
const priceables = fc.record({
  lines: fc.array(fc.record({ quantity, unitPrice: amount, negotiatedUnitPrice: fc.option(amount, { nil: null }) }), {
    minLength: 1,
    maxLength: 6,
  }),
  totalShipping: amount,
  totalTax: amount,
  totalDiscount: amount,
})

const total = (amounts: readonly bigint[]) => amounts.reduce((sum, each) => sum + each, 0n)

test('all amounts are exact, or the order is refused, for the amounts that 64 bits and more would hold (OP-46)', () => {
  fc.assert(
    fc.property(priceables, (priceable) => {
      const lines = priceable.lines.map(
        ({ quantity, unitPrice, negotiatedUnitPrice }) => BigInt(quantity) * BigInt(negotiatedUnitPrice ?? unitPrice),
      )
      const subtotal = total(lines)
      const discounted = subtotal - BigInt(priceable.totalDiscount)
      const withShipping = discounted + BigInt(priceable.totalShipping)
      const totalPrice = withShipping + BigInt(priceable.totalTax)
      const totalItems = total(priceable.lines.map(({ quantity }) => BigInt(quantity)))
      const isPriceable = discounted >= 0n && [subtotal, totalPrice, totalItems].every((sum) => sum <= BigInt(MAX))
      if (!isPriceable) {
        expect(refusal(() => priceOrder(priceable))).toMatch(/^unprocessable: /)
        return
      }
      expect(priceOrder(priceable)).toEqual({
        lineTotals: lines.map(Number),
        subtotalPrice: Number(subtotal),
        totalPrice: Number(totalPrice),
        totalItems: Number(totalItems),
      })
    }),
    { seed: SEED, numRuns: 3000 },
  )
})

test('the price is the same for the lines in any order, and for a line split in two (OP-41)', () => {
  const small = fc.integer({ min: 0, max: 1_000_000 })
  const line = fc.tuple(fc.integer({ min: 2, max: 100 }), small)
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 8 }), small, (lines, totalTax) => {
      const { lineTotals: _, ...price } = order(lines, { totalTax })
      const [[quantity, unitPrice] = [2, 0], ...others] = lines.toReversed()
      const { lineTotals: __, ...split } = order([[1, unitPrice], ...others, [quantity - 1, unitPrice]], { totalTax })
      expect(split).toEqual(price)
    }),
    { seed: SEED, numRuns: 500 },
  )
})

test('subtotal, plus shipping and tax, less the discount is the total; a negotiated price replaces the price, 0 too (OP-41)', () => {
  expect(
    order(
      [
        [2, 1000],
        [3, 300, 250],
        [1, 900, 0],
      ],
      { totalShipping: 500, totalTax: 100, totalDiscount: 50 },
    ),
  ).toEqual({
    lineTotals: [2000, 750, 0],
    subtotalPrice: 2750,
    totalPrice: 3300,
    totalItems: 6,
  })
})

test('a discount of the whole subtotal leaves shipping and tax; one above it is refused (OP-46)', () => {
  expect(order([[1, 100]], { totalDiscount: 100, totalShipping: 7, totalTax: 1 }).totalPrice).toBe(8)
  expect(refusal(() => order([[1, 100]], { totalDiscount: 101, totalShipping: 7 }))).toBe(
    'unprocessable: total_discount: must not be above the subtotal of 100',
  )
})

test.each([
  [
    'a line',
    () =>
      order([
        [1, 1],
        [2, MAX],
      ]),
    /items\[1\]\.quantity/,
  ],
  [
    'the lines',
    () =>
      order([
        [1, MAX],
        [1, 1],
      ]),
    /items/,
  ],
  [
    'the quantities',
    () =>
      order([
        [MAX, 0],
        [1, 0],
      ]),
    /items/,
  ],
  ['the shipping', () => order([[1, MAX]], { totalShipping: 1 }), /total_shipping/],
  ['the tax', () => order([[1, MAX - 1]], { totalShipping: 1, totalTax: 1 }), /total_tax/],
])('the highest amount there can be is exact, one more by %s is refused with its path (OP-46)', (_, price, path) => {
  expect(order([[1, MAX]]).totalPrice).toBe(MAX)
  expect(refusal(price)).toMatch(/^unprocessable: /)
  expect(refusal(price)).toMatch(path)
})
