import { Readable } from 'node:stream'
import { type ApiError, badRequest } from '@backoffice/contracts/errors.ts'
import { CsvError, type Options, parse } from 'csv-parse'
import { parse as parseText } from 'csv-parse/sync'

/** A row of a CSV file. `row` counts as a spreadsheet does: the header is 1, and empty lines count (OP-52). */
export interface CsvRow {
  readonly row: number
  readonly cells: readonly string[]
}

/** The longest row in bytes. It bounds the memory, also for a quote that is never closed. */
export const MAX_ROW_BYTES = 1024 * 1024

/** The most cells of a row. A cell takes ten times the memory of the separator that makes it. */
export const MAX_CELLS = 1000

const OPTIONS = {
  bom: true,
  record_delimiter: ['\r\n', '\n', '\r'],
  // Rows of another length are reported by the row reader, with their numbers.
  relax_column_count: true,
  // A quote within an unquoted cell is a character, as in `5" pipe`.
  relax_quotes: true,
  max_record_size: MAX_ROW_BYTES,
  // The cell after the last allowed one holds the rest of the row.
  ignore_last_delimiters: MAX_CELLS + 1,
} satisfies Options

/** A file that cannot be read from this row on. */
export class UnreadableRow extends Error {
  readonly row: number
  readonly refusal: ApiError

  constructor(row: number, refusal: ApiError) {
    super(refusal.message)
    this.row = row
    this.refusal = refusal
  }
}

const DELIMITERS = [',', ';', '\t'] as const

/** The delimiter that finds most of these names in the first line of a text; a comma when it does not matter. */
export function delimiterOf(firstLines: string, names: ReadonlySet<string>): string {
  const found = (delimiter: string) => firstRow(firstLines, delimiter).filter((cell) => names.has(cell.trim())).length
  return DELIMITERS.reduce((best, delimiter) => (found(delimiter) > found(best) ? delimiter : best))
}

/** The cells of a text's first row; none when it is not well-formed. */
export function firstRow(text: string, delimiter: string): readonly string[] {
  try {
    const [cells = []] = parseText(text, { ...OPTIONS, delimiter, to: 1, max_record_size: 0 }) as string[][]
    return cells
  } catch {
    return []
  }
}

/**
 * The rows of a CSV text in UTF-8 (RFC 4180), also those that are empty. A row with too many cells has one more than
 * MAX_CELLS. After the rows before it, throws an UnreadableRow for a row that is longer than MAX_ROW_BYTES, and for a
 * quote that is not closed before the end.
 */
export async function* readCsv(text: AsyncIterable<Buffer>, delimiter: string): AsyncGenerator<CsvRow> {
  // A destroyed stream drops the rows that were parsed and not read yet.
  const parser = parse({ ...OPTIONS, ...{ autoDestroy: false }, delimiter })
  const source = Readable.from(text, { objectMode: false })
  source.on('error', (error) => parser.emit('error', error))
  source.pipe(parser)
  let row = 0
  try {
    for await (const cells of parser as AsyncIterable<string[]>) yield { row: ++row, cells }
  } catch (error) {
    throw error instanceof CsvError ? new UnreadableRow(row + 1, unreadable(error)) : error
  } finally {
    source.destroy()
    parser.destroy()
  }
}

function unreadable(error: CsvError): ApiError {
  if (error.code === 'CSV_QUOTE_NOT_CLOSED') {
    return badRequest(
      [],
      'a quote opens in this row and is not closed; close it, or write it twice where it belongs to the text',
    )
  }
  if (error.code === 'CSV_MAX_RECORD_SIZE') {
    return badRequest([], `the row is longer than ${MAX_ROW_BYTES} bytes, or a quote that opens in it is not closed`)
  }
  return badRequest([], `the row is not well-formed CSV (${error.code})`)
}
