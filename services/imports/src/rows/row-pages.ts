import { ApiError, unprocessable } from '@backoffice/contracts/errors.ts'
import { TEMPLATE_ROWS } from '@backoffice/contracts/import-templates.ts'
import { ROWS_PER_BATCH, type RowError, rowErrorOf, type Template } from '@backoffice/contracts/imports.ts'
import { type CsvRow, UnreadableRow } from '../files/read-csv.ts'
import type { RowReader, Values } from './row-reader.ts'
import type { UniqueKeys } from './unique-keys.ts'

/** A row that fits the rules of its columns. `json` is `{"row":…,"values":{…}}`. */
export interface ReadRow {
  readonly row: number
  readonly cells: readonly string[]
  readonly key: string
  readonly json: string
  /** The key of another row of the template that it refers to. */
  readonly parent?: string | undefined
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
  /** The row after which the rest of the file was not read. */
  unreadAfter?: number
  /** The bytes of its JSON. */
  bytes: number
  /** The length of its cells, as lengthOf counts it. */
  length: number
}

/** Well below the largest record of a batch; a single row may be larger. */
const PAGE_BYTES = 256 * 1024
/** The most rows, and characters of cells, of a page: they bound pages of bad or large rows. */
const PAGE_ROWS = 4 * ROWS_PER_BATCH
const PAGE_LENGTH = 1024 * 1024
/** A cell counts as so many more characters: what a string takes besides its text. */
const CELL_LENGTH = 32

/**
 * The most bytes of JSON that the rows of a file have together. They are one file, which a bucket takes up to 5 GiB of,
 * and rows of a few bytes, or with much from the row that leads them, become many times as large. k8s/base/imports has
 * room for the files of all places.
 */
export const FILE_BYTES = 4 * 1024 ** 3

/** The rules for the rows of a file. */
export interface RowRules {
  readonly template: Template
  readonly readRow: RowReader
  /** The keys of the rows before. */
  readonly keys: UniqueKeys
}

/**
 * Reads the rows below the header, page by page. No row is read behind one with which they would have more than
 * `mostBytes` of JSON.
 */
export async function* rowPages(
  rows: AsyncIterable<CsvRow>,
  rules: RowRules,
  mostBytes = FILE_BYTES,
): AsyncGenerator<RowPage> {
  let page = emptyPage()
  let allBytes = 0
  try {
    for await (const csvRow of rows) {
      const outcome = outcomeOf(csvRow, rules)
      const bytes = 'json' in outcome ? Buffer.byteLength(outcome.json) : 0
      const length = lengthOf(csvRow)
      allBytes += bytes
      if (allBytes > mostBytes) throw new UnreadableRow(csvRow.row, tooMuch(mostBytes))
      if (!hasRoom(page, bytes, length)) {
        yield page
        page = emptyPage()
      }
      if ('json' in outcome) add(outcome, page, rules)
      else page.refused.push(outcome)
      page.bytes += bytes
      page.length += length
    }
  } catch (error) {
    if (!(error instanceof UnreadableRow)) throw error
    page.unreadAfter = error.row
    page.refused.push({ row: error.row, cells: [], error: rowErrorOf(error.refusal) })
  }
  if (page.read.length + page.refused.length > 0) yield page
}

const tooMuch = (mostBytes: number) =>
  unprocessable([], `the rows up to this one have more than ${mostBytes} bytes as JSON; split the file before it`)

const emptyPage = (): RowPage => ({ read: [], refused: [], earlier: [], bytes: 0, length: 0 })

/** What the cells of a row take in memory, where they are until its page is reported. */
const lengthOf = ({ cells }: CsvRow): number => cells.reduce((sum, cell) => sum + cell.length + CELL_LENGTH, 0)

function hasRoom(page: RowPage, bytes: number, length: number): boolean {
  const rows = page.read.length + page.refused.length
  if (rows === 0) return true
  if (page.read.length === ROWS_PER_BATCH || rows === PAGE_ROWS) return false
  return (page.bytes === 0 || page.bytes + bytes <= PAGE_BYTES) && page.length + length <= PAGE_LENGTH
}

/** Adds a row to a page. A parent in the same page is not an earlier one: the owner checks both, in their order. */
function add(read: ReadRow, page: RowPage, { keys }: RowRules): void {
  const { parent } = read
  page.read.push(read)
  const parentRow = parent === undefined ? undefined : keys.find(keyOf(parent))
  const firstRow = page.read[0]?.row ?? read.row
  if (parent !== undefined && parentRow !== undefined && parentRow < firstRow) page.earlier.push(parent)
}

function outcomeOf({ row, cells, refusal }: CsvRow, rules: RowRules): ReadRow | RefusedRow {
  try {
    if (refusal !== undefined) throw refusal
    const values = rules.readRow(cells)
    const json = JSON.stringify({ row, values })
    refuseTooLarge(json)
    const taken = claimKeys(row, values, rules)
    if (taken !== undefined) return { row, cells, error: taken }
    const key = String(values[TEMPLATE_ROWS[rules.template].key])
    return { row, cells, key, json, parent: values.parent as string | undefined }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { row, cells, error: rowErrorOf(error) }
  }
}

/** The largest JSON of a row, in bytes, so that a record of a batch and a request have room for it (OP-07). */
const MAX_ROW_JSON_BYTES = 512 * 1024

function refuseTooLarge(json: string): void {
  const bytes = Buffer.byteLength(json)
  if (bytes <= MAX_ROW_JSON_BYTES) return
  throw unprocessable([], `the row has ${bytes} bytes, more than ${MAX_ROW_JSON_BYTES}; shorten its texts`)
}

const keyOf = (key: string) => `key ${key}`
const slugOf = (slug: unknown) => `slug ${slug}`

const variableOf = (slug: unknown) => `variable ${slug}`

/**
 * Remembers what must be unique in the file. Returns the refusal instead when an earlier row has it. A slug is that of
 * one product, which has several rows when it is variable.
 */
function claimKeys(row: number, values: Values, { template, keys }: RowRules): RefusedRow['error'] | undefined {
  const { key: column } = TEMPLATE_ROWS[template]
  const natural = String(values[column])
  const key = keyOf(template === 'customers' ? natural.toLowerCase() : natural)
  const slug = template === 'products' ? values.slug : undefined
  const isVariable = values.type === 'VARIABLE_PRODUCT'
  const other =
    slug === undefined ? undefined : (keys.find(slugOf(slug)) ?? (isVariable ? undefined : keys.find(variableOf(slug))))
  const first = other === undefined ? keys.add(key, row) : keys.find(key)
  if (first !== undefined) {
    return { column, code: 'duplicate', message: `row ${first} has it already; keep one of them` }
  }
  if (other !== undefined) {
    return { column: 'slug', code: 'conflict', message: `row ${other} gives "${slug}" to another product` }
  }
  if (slug !== undefined) keys.add(isVariable ? variableOf(slug) : slugOf(slug), row)
  return undefined
}
