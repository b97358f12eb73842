import { type ApiError, badRequest } from '@backoffice/contracts/errors.ts'
import type { ReportedError } from '@backoffice/contracts/import.ts'
import { type ImportTemplate, importTemplate } from '@backoffice/contracts/import-templates.ts'
import { type ImportCheckAnswer, rowErrorOf, type Template } from '@backoffice/contracts/imports.ts'
import { pMapIterable } from 'p-map'
import { restoredRows } from '../files/formulas.ts'
import { openCsv } from '../files/open-csv.ts'
import { type CsvRow, UnreadableRow } from '../files/read-csv.ts'
import { inUtf8 } from '../files/text-encoding.ts'
import { aboutFile } from '../imports/import-row.ts'
import { refuseDamaged } from '../rows/damaged-rows.ts'
import { columnOf, readHeader } from '../rows/header.ts'
import { type RowPage, rowPages } from '../rows/row-pages.ts'
import { rowReader } from '../rows/row-reader.ts'
import { UniqueKeys } from '../rows/unique-keys.ts'
import {
  findSource,
  isOfSource,
  isShifted,
  type OpenedSource,
  productRows,
  readSourceHeader,
} from '../sources/source-rows.ts'
import { collectFindings, type Findings } from './findings.ts'
import { openReportFiles } from './report-files.ts'
import type { TimeSlices } from './time-slices.ts'

/** An uploaded file, and where its validation may leave files. */
export interface FileToValidate {
  readonly template: Template
  /** The content, read once. */
  readonly content: AsyncIterable<Buffer>
  readonly encoding: string
  /** The currency of prices without one. */
  readonly currency: string | null
  /** An empty folder, for what validation finds and for its own files. */
  readonly folder: string
  /** What the report says about the file itself. */
  readonly remarks: readonly ReportedError[]
  /** The turns of the files that the process validates. */
  readonly slices: TimeSlices
  /** Ends the validation, also of a file without any row. */
  readonly signal: AbortSignal
}

/** Asks the owner of the template what applying the rows of a page would do. */
export type CheckPage = (page: RowPage) => Promise<ImportCheckAnswer>

/** Pages that the owner looks at while the next ones are read: as many as it is asked for one workspace at a time. */
const PAGES_IN_FLIGHT = 3

/**
 * Holds each row of a file to the rules of its columns, of the file and, through `check`, of the workspace. Its memory
 * does not grow with the file. `onRows` is called with the number of rows after each page; it may throw to stop the
 * validation.
 */
export async function validateFile(
  { template, content, encoding, currency, folder, remarks, slices, signal }: FileToValidate,
  check: CheckPage,
  onRows: (rows: number) => void,
): Promise<Findings> {
  const text = inUtf8(content, encoding)
  const { rows, delimiter, header, cells, opened } = await openRows(text, importTemplate(template), currency, (all) =>
    slices.of(all, signal),
  )
  const keys = new UniqueKeys(folder)
  const files = openReportFiles(folder, cells.slice(0, header.columns.length), delimiter)
  const findings = collectFindings(files, header, currency)
  try {
    await findings.report(remarks)
    await findings.report(header.errors.map((error) => ({ row: 1, ...error })))
    if (header.errors.length === 0) {
      const uploaded = header.isCorrected ? restoredRows(rows) : rows
      const readRow = rowReader(template, header)
      const held = refuseDamaged(uploaded, {
        readRow,
        length: header.columns.length,
        isShifted: opened && ((cells) => isShifted(opened, cells, readRow)),
        delimiter,
      })
      const own = opened === undefined ? held : productRows(held, opened, keys)
      const pages = rowPages(own, { template, readRow, keys })
      const checked = pMapIterable(pages, async (page) => ({ page, answer: await answerFor(page, check) }), {
        concurrency: PAGES_IN_FLIGHT,
      })
      for await (const { page, answer } of checked) {
        await findings.add(page, answer)
        if (page.unreadAfter !== undefined) await findings.report([unreadAfter(page.unreadAfter)])
        onRows(findings.found.counts.total_rows)
      }
      if (findings.found.counts.total_rows === 0) await findings.report([NO_ROWS])
    }
    await findings.end()
    await files.end()
  } finally {
    await rows.return(undefined)
    await files.close()
    keys.close()
  }
  return findings.found
}

const NO_ROWS = aboutFile('bad_request', 'the file has no rows below its header')

const unreadAfter = (row: number) => aboutFile('bad_request', `the rows after ${row} were not read`)

const NOTHING: ImportCheckAnswer = { created: [], updated: [], unchanged: [], failed: [] }

const answerFor = async (page: RowPage, check: CheckPage) => (page.read.length === 0 ? NOTHING : check(page))

/** Reads the header. The rest of the rows is read later. */
async function openRows(
  text: AsyncIterable<Buffer>,
  template: ImportTemplate,
  currency: string | null,
  inTurn: (rows: AsyncGenerator<CsvRow, undefined>) => AsyncGenerator<CsvRow, undefined>,
) {
  const names = new Set(template.header)
  const csv = await openCsv(text, (cell) => names.has(columnOf(cell)) || isOfSource(columnOf(cell)))
  const { delimiter, rows } = { ...csv, rows: inTurn(csv.rows) }
  const { cells, error } = await headerOf(rows)
  const opened = findSource(cells)
  const own = readHeader(template, cells)
  const read = () => {
    if (opened === undefined) return own
    if (template.key === 'products') return readSourceHeader(opened, cells, currency)
    return { ...own, errors: [aboutHeader(badRequest([], otherTemplate(opened)))] }
  }
  const header = error === undefined ? read() : { ...own, errors: [error] }
  return { rows, delimiter, cells, header, opened }
}

const otherTemplate = ({ source: { title } }: OpenedSource) =>
  `the file is a product export of ${title}: upload it with the template products`

/** The first row that is not blank. */
async function headerOf(rows: AsyncGenerator<CsvRow, undefined>) {
  try {
    let first = await rows.next()
    while (first.value?.cells.every((cell) => cell.trim() === '')) first = await rows.next()
    const { cells = [], refusal } = first.value ?? {}
    return { cells, error: refusal && aboutHeader(refusal) }
  } catch (error) {
    if (!(error instanceof UnreadableRow)) throw error
    return { cells: [], error: aboutHeader(error.refusal) }
  }
}

const aboutHeader = (refusal: ApiError) => ({ ...rowErrorOf(refusal), value: null })
