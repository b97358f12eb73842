import { expect, test } from 'vitest'
import { csvOf } from './audit-csv.ts'

test('cells that a spreadsheet would run are text, and separators stay in their cells', () => {
  const rows = [
    { at: '2026-03-01', reason: '=HYPERLINK("http://evil.example")' },
    { at: '+1', reason: ' @SUM(1)' },
    { at: 'a,b', reason: 'two\nlines, "quoted"' },
    { at: '＝1', reason: null },
  ]
  expect(csvOf(['at', 'reason'], rows).split('\r\n')).toEqual([
    'at,reason',
    `2026-03-01,"'=HYPERLINK(""http://evil.example"")"`,
    `'+1,' @SUM(1)`,
    '"a,b","two\nlines, ""quoted"""',
    `'＝1,`,
    '',
  ])
})
