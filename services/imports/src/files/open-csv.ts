import { parse } from 'csv-parse/sync'
import { MAX_ROW_BYTES, OPTIONS, readCsv } from './read-csv.ts'

const DELIMITERS = [',', ';', '\t'] as const

/** What may come before the rows: a byte order mark, and a line that names the separator, as Excel reads it. */
const LEAD = /^(?:\xef\xbb\xbf)?(?:"?sep=([,;\t])"?(?:\r\n|\n|\r|$))?/i

/** Opens a CSV text in UTF-8, whose header has names for which `isName` is true. */
export async function openCsv(text: AsyncIterable<Buffer>, isName: (cell: string) => boolean) {
  const chunks = text[Symbol.asyncIterator]()
  let start = Buffer.alloc(0)
  while (start.length < MAX_ROW_BYTES && !hasLine(leadOf(start).rest)) {
    const { done = false, value } = await chunks.next()
    if (done) break
    start = Buffer.concat([start, value])
  }
  const { bytes, named, rest } = leadOf(start)
  const delimiter = named ?? delimiterOf(rest, isName)
  async function* again() {
    yield start.subarray(bytes)
    yield* { [Symbol.asyncIterator]: () => chunks }
  }
  return { delimiter, rows: readCsv(again(), delimiter, bytes) }
}

/** Of the first row that is not blank. */
const FIRST_CHARACTER = /[^\s,;]/

/** Whether a text has a whole line that is not blank. One expression for it would try every place in a long line. */
function hasLine(text: string): boolean {
  const begin = text.search(FIRST_CHARACTER)
  return begin >= 0 && /[\r\n]/.test(text.slice(begin))
}

function leadOf(start: Buffer) {
  const text = start.toString('latin1')
  const [{ length }, named] = LEAD.exec(text) ?? ['']
  return { bytes: length, named, rest: text.slice(length) }
}

/** The delimiter that finds most names in the first row of a text; a comma when it does not matter. */
export function delimiterOf(text: string, isName: (cell: string) => boolean): string {
  // A megabyte of blank lines takes the parser many seconds.
  const begin = text.search(FIRST_CHARACTER)
  const row = text.slice(Math.max(0, text.lastIndexOf('\n', begin), text.lastIndexOf('\r', begin)))
  const found = (delimiter: string) => firstRow(row, delimiter).filter(isName).length
  return DELIMITERS.reduce((best, delimiter) => (found(delimiter) > found(best) ? delimiter : best))
}

/** The cells of a text's first row that is not blank; none when it is not well-formed. */
export function firstRow(text: string, delimiter: string): readonly string[] {
  const options = { ...OPTIONS, delimiter, to: 1, max_record_size: 0, skip_records_with_empty_values: true }
  try {
    const [cells = []] = parse(Buffer.from(text, 'latin1'), options) as string[][]
    return cells
  } catch {
    return []
  }
}
