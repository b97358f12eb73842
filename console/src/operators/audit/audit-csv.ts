/** What a spreadsheet would run as a formula. */
const FORMULA = /^\s*[=+\-@\t\r\n＝＋－＠]/

/** Text as a cell: a formula gets an apostrophe before it, and what has a comma, a quote or a line break is quoted. */
function cellOf(value: string | number | null): string {
  const text = String(value ?? '')
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Rows as CSV for spreadsheets, with the names of the columns in the first line. */
export function csvOf<Row extends Readonly<Record<string, string | number | null>>>(
  columns: readonly (keyof Row & string)[],
  rows: readonly Row[],
): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? null))]
  return lines.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('')
}
