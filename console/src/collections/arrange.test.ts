import { expect, it } from 'vitest'
import { areInOrder } from './arrange.tsx'

const products = (ids: string) => [...ids].map((id) => ({ id }))

it.each([
  ['abc', 'abc', true],
  ['acb', 'abc', false],
  // One is taken out, another one added.
  ['acd', 'abc', true],
  ['cad', 'abc', false],
  ['', 'abc', true],
])('compares the order of %j with that of %j', (now, before, isSame) => {
  expect(areInOrder(products(now), products(before))).toBe(isSame)
})
