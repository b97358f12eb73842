import { expect, it } from 'vitest'
import { compileFormSchema } from './compile-form-schema.ts'

const refusalOf = (multipleOf: number, value: number) =>
  compileFormSchema({ properties: { value: { multipleOf } } })({ value })?.reason

it.each([
  [0.01, 19.99],
  [0.01, -19.99],
  [0.01, 0],
  [0.01, 123456789012.34],
  [0.01, 90071992547409.91],
  [0.1, 0.3],
  [0.0001, 0.0075],
  [0.07, 4.69],
  [1e-7, 3e-7],
  [2.5, 7.5],
  [3, 9007199254740990],
  [10, 1e300],
  [5e-324, 1.7976931348623157e308],
])('multiples of %d are decimal: %d is one (OP-134)', (multipleOf, value) => {
  expect(refusalOf(multipleOf, value)).toBeUndefined()
})

it.each([
  [0.01, 19.995],
  [0.01, 19.9900001],
  [0.01, 123456789012.345],
  [0.1, 0.30000000000000004],
  [2.5, 7.4],
  [3, 9007199254740991],
  [7, 1e300],
  [1e308, 5e-324],
])('multiples of %d are decimal: %d is none (OP-134)', (multipleOf, value) => {
  expect(refusalOf(multipleOf, value)).toBe(`must be multiple of ${multipleOf}`)
})

it('each number of cents is a multiple of 0.01, and no tenth of one is (OP-134)', () => {
  const check = compileFormSchema({ multipleOf: 0.01 })
  for (let cents = 0; cents < 20_000; cents++) {
    expect(check(Number(`${cents}e-2`)), `${cents} cents`).toBeUndefined()
    expect(check(Number(`${cents}5e-3`)), `${cents}.5 cents`).toBeDefined()
  }
})
