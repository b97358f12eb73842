import { ERRORS_SHOWN, type ImportCounts, type ReportedError } from '@backoffice/contracts/import.ts'
import { type ImportTemplate, importTemplate } from '@backoffice/contracts/import-templates.ts'
import type { ImportCheckAnswer, Template } from '@backoffice/contracts/imports.ts'
import { pMapIterable } from 'p-map'
import { restoredRows } from '../files/formulas.ts'
import { type CsvRow, delimiterOf, MAX_ROW_BYTES, readCsv, UnreadableRow } from '../files/read-csv.ts'
import { inUtf8 } from '../files/text-encoding.ts'
import { type Header, readHeader } from '../rows/header.ts'
import { type RefusedRow, type RowPage, rowPages } from '../rows/row-pages.ts'
import { rowReader } from '../rows/row-reader.ts'
import { uniqueKeys } from '../rows/unique-keys.ts'
import { type Diff, diffRecorder } from './diff.ts'
import { type BadRow, type BatchPlace, openReportFiles } from './report-files.ts'

/** An uploaded file, and where its validation may leave files. */
export interface FileToValidate {
  readonly template: Template
  /** The content, read once. */
  readonly content: AsyncIterable<Buffer>
  readonly encoding: string
  /** An empty folder, for what validation finds and for its own files. */
  readonly folder: string
  /** What is to be told about the file itself. */
  readonly remarks: readonly ReportedError[]
}

/** Asks the owner of the template what applying the rows of a page would do. */
export type CheckPage = (page: RowPage) => Promise<ImportCheckAnswer>

/** What a validation found. Its files are in the folder (FINDINGS). */
export interface Findings {
  readonly counts: Pick<ImportCounts, 'total_rows' | 'valid_rows' | 'invalid_rows'>
  readonly batches: readonly BatchPlace[]
  /** The first ERRORS_SHOWN of them. */
  readonly errors: readonly ReportedError[]
  readonly diff: Diff
}

/** Pages that the owner looks at while the next ones are read. */
const PAGES_IN_FLIGHT = 6
const CELL_LENGTH = 255

/**
 * Holds each row of a file to the rules of its columns, of the file and, through `check`, of the workspace. Its memory does not grow
 * with the file. `onRows` is called with the number of rows after each page; it may throw to stop the validation.
 */
export async function validateFile(
  { template, content, encoding, folder, remarks }: FileToValidate,
  check: CheckPage,
  onRows: (rows: number) => void,
): Promise<Findings> {
  const { rows, header, cells } = await openRows(inUtf8(content, encoding), importTemplate(template))
  const files = openReportFiles(folder, cells.slice(0, header.columns.length))
  const keys = uniqueKeys(folder)
  const found = { valid: 0, invalid: 0, errors: [...remarks], batches: [] as BatchPlace[], diff: diffRecorder() }
  const refuse = async (bad: readonly BadRow[]) => {
    found.invalid += bad.filter(({ error }) => error.row > 1).length
    found.errors.push(...bad.map(({ error }) => error).slice(0, Math.max(0, ERRORS_SHOWN - found.errors.length)))
    await files.addBadRows(bad)
  }
  try {
    await files.addBadRows(remarks.map((error) => ({ cells: [], error })))
    await refuse(header.errors.map((error) => ({ cells: [], error: { row: 1, ...error } })))
    const own = header.isCorrected ? restoredRows(rows) : rows
    const pages =
      header.errors.length > 0 ? [] : rowPages(own, { template, readRow: rowReader(template, header), keys })
    const checked = pMapIterable(pages, async (page) => ({ page, answer: await answerFor(page, check) }), {
      concurrency: PAGES_IN_FLIGHT,
    })
    for await (const { page, answer } of checked) {
      const failed = new Map(answer.failed.map(({ row, error }) => [row, error]))
      const valid = page.read.filter(({ row }) => !failed.has(row))
      const refused = page.read.flatMap((read): RefusedRow[] => {
        const error = failed.get(read.row)
        return error === undefined ? [] : [{ ...read, error }]
      })
      if (valid.length > 0) found.batches.push(await files.addBatch(valid.map(({ json }) => json)))
      found.valid += valid.length
      found.diff.add(valid, answer)
      await refuse([...page.refused, ...refused].toSorted((a, b) => a.row - b.row).map((row) => badRow(row, header)))
      onRows(found.valid + found.invalid)
    }
    if (found.valid + found.invalid === 0 && header.errors.length === 0) await refuse([NO_ROWS])
    await files.end()
  } finally {
    await rows.return(undefined)
    files.destroy()
    keys.close()
  }
  const { valid, invalid, errors, batches, diff } = found
  const counts = { total_rows: valid + invalid, valid_rows: valid, invalid_rows: invalid }
  return { counts, batches, errors, diff: diff.result() }
}

const NO_ROWS: BadRow = {
  cells: [],
  error: {
    row: 1,
    column: '',
    code: 'bad_request',
    message: 'the file has no rows below its header',
    value: null,
  },
}

const NOTHING: ImportCheckAnswer = { created: [], updated: [], unchanged: [], failed: [] }

const answerFor = async (page: RowPage, check: CheckPage) => (page.read.length === 0 ? NOTHING : check(page))

/** The error of a row, with the cell that it is about. */
function badRow({ row, cells, error: { column, code, message } }: RefusedRow, { columns }: Header): BadRow {
  const index = columns.findIndex((one) => one?.name === column)
  const value = cells[index]?.slice(0, CELL_LENGTH).replaceAll('\0', '').toWellFormed() ?? null
  return { cells, error: { row, column, code, message, value } }
}

/** Reads the header. The rest of the rows is read later. */
async function openRows(text: AsyncIterable<Buffer>, template: ImportTemplate) {
  const chunks = text[Symbol.asyncIterator]()
  const start: Buffer[] = []
  for (let bytes = 0; bytes < MAX_ROW_BYTES; ) {
    const { done = false, value } = await chunks.next()
    if (done) break
    start.push(value)
    bytes += value.length
    if (value.includes(0x0a) || value.includes(0x0d)) break
  }
  async function* again() {
    yield* start
    yield* { [Symbol.asyncIterator]: () => chunks }
  }
  const names = new Set(template.header)
  const rows = readCsv(again(), delimiterOf(Buffer.concat(start).toString('utf8'), names))
  const { cells, error } = await firstOf(rows)
  const header = readHeader(template, cells)
  return { rows, cells, header: error === undefined ? header : { ...header, errors: [error] } }
}

async function firstOf(rows: AsyncGenerator<CsvRow>) {
  try {
    const { value } = await rows.next()
    return { cells: (value as CsvRow | undefined)?.cells ?? [] }
  } catch (error) {
    if (!(error instanceof UnreadableRow)) throw error
    const { code, reason } = error.refusal
    return { cells: [], error: { column: '', code: code as 'bad_request', message: reason, value: null } }
  }
}
