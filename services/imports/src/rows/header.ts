import type { ImportColumn, ImportTemplate } from '@backoffice/contracts/import-templates.ts'
import { type RowError, reportedText } from '@backoffice/contracts/imports.ts'
import { MAX_CELLS } from '../files/read-csv.ts'
import { readCell } from './cells.ts'

/** The column that a file may have beside those of its template: `corrected.csv` shows what to mend in it. */
export const ERROR_COLUMN = 'error'

/** The column that a cell of a header names, whatever its case. */
export const columnOf = (cell: string): string => cell.trim().toLowerCase()

/** The header of a file: the template's column at each place, undefined for one that is not read. */
export interface Header {
  readonly columns: readonly (ImportColumn | undefined)[]
  /** What the file calls its columns. */
  readonly titles: readonly string[]
  /** Where the file has the columns of the template. */
  readonly places: ReadonlyMap<string, number>
  /** Whether it is a corrected file, whose formulas are neutralised. */
  readonly isCorrected: boolean
  /** Why no row of the file can be read; empty for a good header. */
  readonly errors: readonly RowError[]
  /** The platform whose export it is; null for a file of our own. */
  readonly source: string | null
  /** Reads the values of a row by the template's columns, before they are held to the row's schema. */
  readonly valuesOf: (cells: readonly string[]) => Readonly<Record<string, unknown>>
}

const NOTHING = { columns: [], titles: [], places: new Map(), isCorrected: false, source: null, valuesOf: () => ({}) }

/** A file that is not one of the template may have a great many unknown columns. */
const ERRORS_SHOWN = 20

const badColumn = (column: string, message: string, value: string | null = null): RowError => ({
  column: reportedText(column),
  code: 'bad_request',
  message,
  value: value === null ? null : reportedText(value),
})

/** Finds the template's columns in the first row of a file: in any order, and optional ones may be missing. */
export function readHeader(template: ImportTemplate, cells: readonly string[]): Header {
  if (cells.length > MAX_CELLS) return { ...NOTHING, errors: [badColumn('', TOO_MANY)] }
  const trimmed = cells.map(columnOf)
  // Spreadsheets export empty cells behind the last column.
  const names = trimmed.slice(0, trimmed.findLastIndex((name) => name !== '') + 1)
  const byName = new Map(template.columns.map((column) => [column.name, column]))
  const columns = names.map((name) => byName.get(name))
  return {
    columns,
    titles: names.map(reportedText),
    places: new Map(columns.flatMap((column, index) => (column === undefined ? [] : [[column.name, index]]))),
    source: null,
    valuesOf: (cells) => ownValues(cells, columns),
    isCorrected: names.includes(ERROR_COLUMN),
    errors: names.some((name) => name.includes('\0')) ? [badColumn('', NO_TEXT)] : errorsIn(names, template),
  }
}

function ownValues(cells: readonly string[], columns: Header['columns']): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {}
  for (const [index, column] of columns.entries()) {
    const text = cells[index] ?? ''
    if (column !== undefined && text !== '') values[column.name] = readCell(text, column)
  }
  return values
}

const TOO_MANY = `the header has more than ${MAX_CELLS} columns; delete those that the template does not have`

const NO_TEXT =
  'the header has NUL characters: the file is no text, or UTF-16 without its byte order mark; save it as UTF-8'

function errorsIn(names: readonly string[], { key, columns }: ImportTemplate): RowError[] {
  const known = new Set([...columns.map(({ name }) => name), ERROR_COLUMN])
  const allowed = `the template ${key} has ${columns.map(({ name }) => name).join(', ')}`
  const found = new Set<string>()
  const errors: RowError[] = []
  for (const [index, name] of names.entries()) {
    if (errors.length === ERRORS_SHOWN) break
    if (name === '') errors.push(badColumn('', `column ${index + 1} has no name; ${allowed}`))
    else if (found.has(name)) errors.push(badColumn(name, 'the column is there twice; keep one of them', name))
    else if (!known.has(name)) errors.push(badColumn(name, `unknown column; ${allowed}`, name))
    found.add(name)
  }
  const missing = columns.filter(({ name, required }) => required && !names.includes(name))
  return [...errors, ...missing.map(({ name }) => badColumn(name, 'the column is missing; add it to the header'))]
}

/** What the file calls a column of its template. */
export const titleOf = ({ places, titles }: Pick<Header, 'places' | 'titles'>, column: string): string =>
  titles[places.get(column) ?? -1] ?? column
