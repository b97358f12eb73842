import { expect, it } from 'vitest'
import { grouped, rangesOf } from './mistakes.ts'

it('tells a mistake once, with all its rows, and that of most rows first', () => {
  const error = { code: 'bad_request' as const, message: 'must be an integer', value: 'many' }
  const mistakes = grouped([
    { ...error, row: 2, column: 'price' },
    { ...error, row: 3, column: 'stock' },
    { ...error, row: 5, column: 'stock', value: 'few' },
  ])
  expect(mistakes).toMatchObject([
    { column: 'stock', rows: [3, 5], value: 'many' },
    { column: 'price', rows: [2], value: 'many' },
  ])
})

it('tells rows one after the other as a range', () => {
  expect(rangesOf([2, 3, 4, 7, 9, 10])).toEqual([
    [2, 4],
    [7, 7],
    [9, 10],
  ])
  expect(rangesOf([])).toEqual([])
})
