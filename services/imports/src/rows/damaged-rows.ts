import { type ApiError, badRequest } from '@backoffice/contracts/errors.ts'
import type { CsvRow } from '../files/read-csv.ts'
import { type RowReader, refusalOfLength } from './row-reader.ts'

/** What rows of a file are held to before their values are read. */
interface FileForm {
  readonly readRow: RowReader
  /** The number of columns. */
  readonly length: number
  /** Whether cells of a row with more of them may not be under their columns, where rows take values from others. */
  readonly isShifted?: ((cells: readonly string[]) => boolean) | undefined
  /** Separates the cells of the file. */
  readonly delimiter: string
}

/**
 * The rows of a file that have a value. A row gets a refusal when its cells are not under their columns: then nothing
 * of it may be used, also not for other rows.
 */
export async function* refuseDamaged(rows: AsyncIterable<CsvRow>, form: FileForm): AsyncGenerator<CsvRow> {
  for await (const row of rows) {
    if (row.cells.every((cell) => cell === '')) continue
    const refusal = row.refusal ?? refusalOfLines(row, form) ?? refusalOfLength(row.cells, form.length, form.isShifted)
    yield refusal === row.refusal ? row : { ...row, refusal }
  }
}

/** So many lines of a row are looked at: the first one that was swallowed is among them. */
const LINES_READ = 100

/**
 * The refusal of a row of which a line reads as a row of its own: a quote was forgotten, and the cell that it opens
 * goes on into the rows behind. In prose a separator has a space behind it.
 */
function refusalOfLines({ lines, cells: { length } }: CsvRow, { delimiter, readRow }: FileForm): ApiError | undefined {
  if (lines === undefined) return undefined
  const isRow = (line: string) => {
    const cells = line.replaceAll('"', '').split(delimiter)
    if (cells.length !== length || cells.some((cell) => cell.startsWith(' '))) return false
    try {
      return readRow(cells) !== undefined
    } catch {
      return false
    }
  }
  let looked = 0
  for (const [, line = ''] of lines.matchAll(/[\r\n]([^\r\n]+)/g)) {
    if (looked++ === LINES_READ) return undefined
    if (isRow(line)) return badRequest([], SWALLOWED)
  }
  return undefined
}

// Without separators, so that the row is refused again when it comes back in a corrected file and is not mended.
const SWALLOWED =
  'has a quoted text with a line that reads as a row of its own: close the quote before it or take the line break out'
