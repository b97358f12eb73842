import { expect, it } from 'vitest'
import { decimalText, parseAmount } from './amounts.ts'

it.each([
  ['12.5', 'USD', 1250],
  ['12,50', 'USD', 1250],
  [' 12 ', 'USD', 1200],
  ['0.07', 'USD', 7],
  ['1.005', 'KWD', 1005],
  ['1,50', 'KWD', 1500],
  ['12', 'JPY', 12],
  ['10', 'HUF', 1000],
  ['90071992547409.91', 'USD', Number.MAX_SAFE_INTEGER],
])('reads %j in %s as %i minor units', (typed, currency, amount) => {
  expect(parseAmount(typed, currency)).toBe(amount)
})

it.each([
  ['12.5', 'JPY'],
  ['12.505', 'USD'],
  ['1,200', 'USD'],
  ['1,200', 'KWD'],
  ['1,200.00', 'USD'],
  ['-1', 'USD'],
  ['1e3', 'USD'],
  ['.5', 'USD'],
  ['5.', 'USD'],
  ['', 'USD'],
  ['90071992547409.92', 'USD'],
])('refuses %j in %s rather than guess', (typed, currency) => {
  expect(parseAmount(typed, currency)).toBeUndefined()
})

it('writes amounts as they are read, however large', () => {
  for (const [amount, currency, text] of [
    [1250, 'USD', '12.50'],
    [7, 'USD', '0.07'],
    [-7, 'USD', '-0.07'],
    [12, 'JPY', '12'],
    [5, 'KWD', '0.005'],
    [Number.MAX_SAFE_INTEGER, 'USD', '90071992547409.91'],
  ] as const) {
    expect(decimalText(amount, currency)).toBe(text)
    if (amount > 0) expect(parseAmount(text, currency)).toBe(amount)
  }
})
