import type { ImportColumn, ImportTemplate } from '@backoffice/contracts/import-templates.ts'
import type { RowError } from '@backoffice/contracts/imports.ts'

/** The column that a file may have beside those of its template: `corrected.csv` shows what to mend in it. */
export const ERROR_COLUMN = 'error'

/** The header of a file: the template's column at each place, undefined for one that is not read. */
export interface Header {
  readonly columns: readonly (ImportColumn | undefined)[]
  /** Whether it is a corrected file, whose formulas are neutralised. */
  readonly isCorrected: boolean
  /** Why no row of the file can be read; empty for a good header. */
  readonly errors: readonly RowError[]
}

const badColumn = (column: string, message: string, value: string | null = null): RowError => ({
  column,
  code: 'bad_request',
  message,
  value,
})

/** Finds the template's columns in the first row of a file. They may come in any order, and optional ones may be missing. */
export function readHeader({ key, columns }: ImportTemplate, cells: readonly string[]): Header {
  const names = withoutTrailing(cells.map((cell) => cell.trim()))
  const byName = new Map(columns.map((column) => [column.name, column]))
  const allowed = `the template ${key} has ${columns.map(({ name }) => name).join(', ')}`
  const errors = names.flatMap((name, index): RowError[] => {
    if (name === '') return [badColumn('', `column ${index + 1} has no name; ${allowed}`)]
    if (names.indexOf(name) < index) return [badColumn(name, 'the column is there twice; keep one of them', name)]
    if (name === ERROR_COLUMN || byName.has(name)) return []
    return [badColumn(name, `unknown column; ${allowed}`, name)]
  })
  const missing = columns.filter(({ name, required }) => required && !names.includes(name))
  return {
    columns: names.map((name) => byName.get(name)),
    isCorrected: names.includes(ERROR_COLUMN),
    errors: [...errors, ...missing.map(({ name }) => badColumn(name, 'the column is missing; add it to the header'))],
  }
}

/** Spreadsheets export empty cells behind the last column. */
function withoutTrailing(names: string[]): string[] {
  return names.slice(0, names.findLastIndex((name) => name !== '') + 1)
}
