import { expect, it } from 'vitest'
import { addToDiff, emptyDiff } from './diff.ts'

it('counts what rows would do, and shows the first 100 of each kind with their keys (OP-147)', () => {
  const diff = emptyDiff()
  const rows = (from: number, length: number) => Array.from({ length }, (_, n) => from + n)
  const page = rows(2, 90).map((row) => ({ row, key: `S${row}` }))
  addToDiff(diff, page, { created: rows(2, 80), updated: [82, 83], unchanged: [84], failed: [] })
  addToDiff(
    diff,
    rows(92, 90).map((row) => ({ row, key: `S${row}` })),
    { created: rows(92, 80), updated: [172], unchanged: [], failed: [] },
  )
  const { create, update, unchanged } = diff
  expect([create.count, create.rows.length, create.rows.at(-1)]).toEqual([160, 100, { row: 111, key: 'S111' }])
  expect(update).toEqual({ count: 3, rows: [82, 83, 172].map((row) => ({ row, key: `S${row}` })) })
  expect(unchanged).toEqual({ count: 1, rows: [{ row: 84, key: 'S84' }] })
})
