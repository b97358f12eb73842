import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { neutralised, restored } from './formulas.ts'

describe('a cell that a spreadsheet would run as a formula gets an apostrophe', () => {
  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1', '＋1', '－1', '＠x', "'=1", "''-1"])(
    '%j',
    (cell) => {
      expect(neutralised(cell)).toBe(`'${cell}`)
    },
  )
})

it.each(['', 'Mug', "'", "'quoted'", '5-3', 'a=b', ' =1', '12'])('leaves %j as it is', (cell) => {
  expect([neutralised(cell), restored(cell)]).toEqual([cell, cell])
})

it('gives every cell back as it was', () => {
  const piece = fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', '\n', '＝', 'a', ' ', '1')
  fc.assert(
    fc.property(fc.string({ unit: piece, maxLength: 5 }), (cell) => {
      expect(restored(neutralised(cell))).toBe(cell)
    }),
    { seed: 20_260_301, numRuns: 2000 },
  )
})
