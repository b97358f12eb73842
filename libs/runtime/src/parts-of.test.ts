import { expect, test } from 'vitest'
import { partsOf } from './parts-of.ts'

const partsBySize = (limit: number, ...sizes: number[]) => [...partsOf(sizes, limit, (size) => size)]

test('a part takes items up to its limit, and the last one what is left', () => {
  expect([...partsOf('abcde', 2)]).toEqual([['a', 'b'], ['c', 'd'], ['e']])
  expect(partsBySize(10, 4, 6, 1, 9, 5)).toEqual([[4, 6], [1, 9], [5]])
})

test('an item above the limit is a part of its own', () => {
  expect(partsBySize(10, 3, 11, 4, 5, 12)).toEqual([[3], [11], [4, 5], [12]])
})

test('without items there are no parts', () => {
  expect(partsBySize(10)).toEqual([])
})
