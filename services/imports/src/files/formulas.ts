import type { CsvRow } from './read-csv.ts'

/**
 * A cell that a spreadsheet would run as a formula, also after apostrophes: else `restored` would drop an apostrophe of
 * its own.
 */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/
const NEUTRALISED = /^'+[=+\-@\t\r\n＝＋－＠]/

/** The cell as text for a spreadsheet: a formula gets an apostrophe before it. */
export const neutralised = (cell: string): string => (FORMULA.test(cell) ? `'${cell}` : cell)

/** The cell that `neutralised` was given. */
export const restored = (cell: string): string => (NEUTRALISED.test(cell) ? cell.slice(1) : cell)

/** The rows of a corrected file with the cells that the file before it had. */
export async function* restoredRows(rows: AsyncIterable<CsvRow>): AsyncGenerator<CsvRow> {
  for await (const row of rows) yield { ...row, cells: row.cells.map(restored) }
}
