import { expect, it } from 'vitest'
import { haveSameLines, sumLines } from './stock-lines.ts'

const [A, B, C] = ['a', 'b', 'c'].map((digit) => `00000000-0000-4000-8000-00000000000${digit}`) as [
  string,
  string,
  string,
]

it('sums per variant, in id order, each under the path of its first line', () => {
  const lines = [
    { variant: C, quantity: 1 },
    { variant: A, quantity: 2 },
    { variant: C, quantity: 3 },
  ]
  expect(sumLines(lines)).toEqual([
    { variant: A, quantity: 2, path: ['lines', 1] },
    { variant: C, quantity: 4, path: ['lines', 0] },
  ])
})

it('sums up to 2^53−1 and refuses one more, naming the line that goes beyond (OP-07)', () => {
  const most = { variant: A, quantity: Number.MAX_SAFE_INTEGER - 1 }
  const one = { variant: A, quantity: 1 }
  expect(sumLines([most, one])[0]?.quantity).toBe(Number.MAX_SAFE_INTEGER)
  expect(() => sumLines([most, one, one])).toThrow(/^lines\[2\]\.quantity: makes more than 9007199254740991 of/)
})

it('takes lines for the same when the sums are', () => {
  const taken = (variant: string, quantity: number) => ({ variant, product: B, sku: 'MUG', quantity })
  const wanted = sumLines([
    { variant: B, quantity: 1 },
    { variant: A, quantity: 2 },
    { variant: B, quantity: 4 },
  ])
  expect(haveSameLines(wanted, [taken(A, 2), taken(B, 5)])).toBe(true)
  expect(haveSameLines(wanted, [taken(A, 2), taken(B, 4)])).toBe(false)
  expect(haveSameLines(wanted, [taken(A, 2), taken(C, 5)])).toBe(false)
  expect(haveSameLines(wanted, [taken(A, 2)])).toBe(false)
  expect(haveSameLines(wanted, [taken(A, 2), taken(B, 5), taken(C, 1)])).toBe(false)
})
