import { ApiError, unprocessable } from '@backoffice/contracts/errors.ts'
import { TEMPLATE_ROWS } from '@backoffice/contracts/import-templates.ts'
import { ROWS_PER_BATCH, type RowError, type Template } from '@backoffice/contracts/imports.ts'
import { type CsvRow, UnreadableRow } from '../files/read-csv.ts'
import type { Values } from './row-reader.ts'
import type { UniqueKeys } from './unique-keys.ts'

/** A row that fits the rules of its columns. `json` is `{"row":…,"values":{…}}`. */
export interface ReadRow {
  readonly row: number
  readonly cells: readonly string[]
  readonly key: string
  readonly json: string
}

/** A row that is refused. */
export interface RefusedRow {
  readonly row: number
  readonly cells: readonly string[]
  readonly error: Omit<RowError, 'value'>
}

/** Rows that follow each other in the file; those that were read fit into one batch. */
export interface RowPage {
  readonly read: ReadRow[]
  readonly refused: RefusedRow[]
  /** Keys of earlier rows that rows of this page refer to. */
  readonly earlier: string[]
}

/** Well below the largest record of a batch; a single row may be larger. */
const PAGE_BYTES = 256 * 1024
/** A page of bad rows ends as well. */
const PAGE_ROWS = 4 * ROWS_PER_BATCH

/** What the rows of a file are held to. */
export interface RowRules {
  readonly template: Template
  readonly readRow: (cells: readonly string[]) => Values
  /** The keys of the rows before. */
  readonly keys: UniqueKeys
}

/** Reads the rows below the header, page by page. Rows without any value are left out. */
export async function* rowPages(rows: AsyncIterable<CsvRow>, rules: RowRules): AsyncGenerator<RowPage> {
  let page = emptyPage()
  let bytes = 0
  try {
    for await (const csvRow of rows) {
      if (csvRow.cells.every((cell) => cell === '')) continue
      const outcome = outcomeOf(csvRow, rules, page.earlier)
      if ('error' in outcome) page.refused.push(outcome)
      else {
        const size = Buffer.byteLength(outcome.json)
        if (bytes > 0 && bytes + size > PAGE_BYTES) {
          yield page
          page = emptyPage()
          bytes = 0
        }
        page.read.push(outcome)
        bytes += size
      }
      if (page.read.length < ROWS_PER_BATCH && page.read.length + page.refused.length < PAGE_ROWS) continue
      yield page
      page = emptyPage()
      bytes = 0
    }
  } catch (error) {
    if (!(error instanceof UnreadableRow)) throw error
    page.refused.push({ row: error.row, cells: [], error: rowError(error.refusal) })
  }
  if (page.read.length + page.refused.length > 0) yield page
}

const emptyPage = (): RowPage => ({ read: [], refused: [], earlier: [] })

function outcomeOf({ row, cells }: CsvRow, rules: RowRules, earlier: string[]): ReadRow | RefusedRow {
  try {
    const values = rules.readRow(cells)
    const json = JSON.stringify({ row, values })
    refuseTooLarge(json)
    const taken = claimKeys(row, values, rules)
    if (taken !== undefined) return { row, cells, error: taken }
    const parent = parentOf(rules.template, values)
    if (parent !== undefined && rules.keys.has(keyOf(parent))) earlier.push(parent)
    return { row, cells, key: String(values[TEMPLATE_ROWS[rules.template].key]), json }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { row, cells, error: rowError(error) }
  }
}

/** The largest row, beside whose JSON a record of a batch and a request have room for their frame (OP-07). */
const MAX_ROW_JSON_BYTES = 512 * 1024

function refuseTooLarge(json: string): void {
  const bytes = Buffer.byteLength(json)
  if (bytes <= MAX_ROW_JSON_BYTES) return
  throw unprocessable([], `the row has ${bytes} bytes, more than ${MAX_ROW_JSON_BYTES}; shorten its texts`)
}

const keyOf = (key: string) => `key ${key}`
const slugOf = (slug: unknown) => `slug ${slug}`

/** Remembers what must be unique in the file. Returns the refusal, and remembers nothing, when an earlier row has it. */
function claimKeys(row: number, values: Values, { template, keys }: RowRules): RefusedRow['error'] | undefined {
  const { key: column } = TEMPLATE_ROWS[template]
  const natural = String(values[column])
  const slug = template === 'products' ? values.slug : undefined
  const other = slug === undefined ? undefined : keys.find(slugOf(slug))
  if (other !== undefined) {
    return { column: 'slug', code: 'conflict', message: `row ${other} gives "${slug}" to another product` }
  }
  const first = keys.add(keyOf(template === 'customers' ? natural.toLowerCase() : natural), row)
  if (first !== undefined) {
    return { column, code: 'duplicate', message: `row ${first} has it already; keep one of them` }
  }
  if (slug !== undefined) keys.add(slugOf(slug), row)
  return undefined
}

/** The key of another row of the template that the row refers to. */
const parentOf = (template: Template, { parent }: Values): string | undefined =>
  template === 'categories' && parent !== undefined ? String(parent) : undefined

const rowError = ({ code, path, reason }: ApiError): RefusedRow['error'] => ({
  column: String(path[0] ?? ''),
  code: code === 'bad_request' || code === 'conflict' ? code : 'unprocessable',
  message: reason,
})
