import { Readable } from 'node:stream'
import { type ApiError, badRequest } from '@backoffice/contracts/errors.ts'
import { CsvError, type Info, type Options, parse } from 'csv-parse'
import { firstBadByte } from './text-encoding.ts'

/** A row of a CSV file. `row` counts as a spreadsheet does: the header is 1, and empty lines count (OP-52). */
export interface CsvRow {
  readonly row: number
  readonly cells: readonly string[]
  /** Why the cells cannot be what was meant. */
  readonly refusal?: ApiError | undefined
  /** The text of a row of several lines, as it is in the file. */
  readonly lines?: string | undefined
}

/** The longest row in bytes. It bounds the memory, also for a quote that is never closed. */
export const MAX_ROW_BYTES = 1024 * 1024

/** The most cells of a row. A cell takes ten times the memory of the separator that makes it. */
export const MAX_CELLS = 1000

/** The parser parses what it has without a pause: 64 KiB of line breaks would take it most of a second. */
const AT_ONCE_BYTES = 4 * 1024

export const OPTIONS = {
  // A character for each byte: so bytes that are not UTF-8 are found, and a row's length is in bytes.
  encoding: 'latin1',
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

/**
 * The rows of a CSV text in UTF-8 (RFC 4180), also those that are empty; `skipped` bytes of the file come before it. A
 * row with too many cells has one more than MAX_CELLS. After the rows before it, throws an UnreadableRow for a row that
 * is longer than MAX_ROW_BYTES, and for a quote that is not closed before the end.
 */
export async function* readCsv(
  text: AsyncIterable<Buffer>,
  delimiter: string,
  skipped = 0,
): AsyncGenerator<CsvRow, undefined> {
  // A destroyed stream drops the rows that were parsed and not read yet. Rows may be large, so few of them wait.
  const stream = { autoDestroy: false, writableHighWaterMark: AT_ONCE_BYTES, readableHighWaterMark: 1 }
  const parser = parse({ ...OPTIONS, ...stream, delimiter, raw: true, info: true })
  const source = Readable.from(inChunks(text), { objectMode: false })
  source.on('error', (error) => parser.emit('error', error))
  source.pipe(parser)
  let row = 0
  let start = skipped
  try {
    for await (const { record, raw, info } of parser as AsyncIterable<{ record: string[]; raw: string; info: Info }>) {
      yield csvRow(++row, record, raw, delimiter, start)
      start = skipped + info.bytes
    }
  } catch (error) {
    throw error instanceof CsvError ? new UnreadableRow(row + 1, unreadable(error)) : error
  } finally {
    source.destroy()
    parser.destroy()
  }
}

async function* inChunks(text: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of text) {
    for (let start = 0; start < chunk.length; start += AT_ONCE_BYTES) yield chunk.subarray(start, start + AT_ONCE_BYTES)
  }
}

/** A row as the parser read it, with a character for each byte. `start` is where it begins in the file. */
function csvRow(row: number, record: readonly string[], raw: string, delimiter: string, start: number): CsvRow {
  const hasLines = /[\r\n][^\r\n]/.test(raw)
  const isQuoted = record.some((cell) => cell.startsWith('"'))
  if (!hasLines && !isQuoted && !/[\x80-\xff]/.test(raw)) return { row, cells: record }
  const cells = record.map(decoded)
  const refusal = isQuoted ? refusalOfQuote(record, raw, delimiter) : undefined
  return {
    row,
    cells,
    refusal: refusal ?? refusalOfText(cells, raw, start),
    lines: hasLines ? decoded(raw) : undefined,
  }
}

const decoded = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8')

// Without separators, so that the row, when it comes back in a corrected file, still reads as rows (damaged-rows.ts).
const OPEN_QUOTE =
  'a quote opens in this row and is closed within a cell of a later line: close it where its own cell ends'

const TEXT_BEHIND_QUOTE =
  'a cell has text behind its closing quote: take that out, or quote the whole cell and write its own quotes twice'

/**
 * The refusal of a row with text behind the closing quote of a cell: in a cell of several lines that quote mostly
 * belongs to another row, whose cell it should open. The parser keeps the opening quote as a character of the cell.
 */
function refusalOfQuote(record: readonly string[], raw: string, delimiter: string): ApiError | undefined {
  let at = 0
  for (const cell of record.slice(0, MAX_CELLS)) {
    const written = raw[at] === '"' ? `"${cell.replaceAll('"', '""')}"` : cell
    const isWhole = raw.startsWith(written, at) && [delimiter, '\r', '\n', undefined].includes(raw[at + written.length])
    if (!isWhole) return badRequest([], /[\r\n]/.test(cell) ? OPEN_QUOTE : TEXT_BEHIND_QUOTE)
    at += written.length + 1
  }
  return undefined
}

/** The refusal of a text that was damaged; so that nobody imports it, also when it was damaged before. */
function refusalOfText(cells: readonly string[], raw: string, start: number): ApiError | undefined {
  if (!cells.some((cell) => cell.includes('\ufffd'))) return undefined
  const at = firstBadByte(raw)
  if (at === undefined) {
    return badRequest([], 'has the character U+FFFD, which stands for one that was lost when the file was saved')
  }
  const byte = raw.charCodeAt(at).toString(16).toUpperCase()
  return badRequest([], `the byte ${start + at + 1} of the file (0x${byte}) is not UTF-8; save the file as UTF-8`)
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
