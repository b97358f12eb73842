import { ERRORS_SHOWN, type ImportCounts, type ReportedError } from '@backoffice/contracts/import.ts'
import type { ImportCheckAnswer } from '@backoffice/contracts/imports.ts'
import type { Header } from '../rows/header.ts'
import type { RefusedRow, RowPage } from '../rows/row-pages.ts'
import { type Diff, diffRecorder } from './diff.ts'
import type { BadRow, BatchPlace, openReportFiles } from './report-files.ts'

/** What a validation found. Its files are in the folder (FINDINGS). */
export interface Findings {
  readonly counts: Pick<ImportCounts, 'total_rows' | 'valid_rows' | 'invalid_rows'>
  readonly batches: readonly BatchPlace[]
  /** The first ERRORS_SHOWN of them. */
  readonly errors: readonly ReportedError[]
  readonly diff: Diff
}

const CELL_LENGTH = 255

/** Collects what a validation finds: numbers and the first errors in memory, all the rest in the files. */
export function findingsIn(files: ReturnType<typeof openReportFiles>, header: Header) {
  const errors: ReportedError[] = []
  const batches: BatchPlace[] = []
  const diff = diffRecorder()
  let [valid, invalid] = [0, 0]
  const report = async (bad: readonly BadRow[]) => {
    errors.push(...bad.slice(0, Math.max(0, ERRORS_SHOWN - errors.length)).map(({ error }) => error))
    await files.addBadRows(bad)
  }
  return {
    /** Tells errors that are about no row: of the file and its header. */
    tell: (about: readonly ReportedError[]) => report(about.map((error) => ({ cells: [], error }))),
    /** Adds a page with the answer of the owner. Returns the number of rows until then. */
    async add(page: RowPage, answer: ImportCheckAnswer): Promise<number> {
      const failed = new Map(answer.failed.map(({ row, error }) => [row, error]))
      const accepted = page.read.filter(({ row }) => !failed.has(row))
      const refused = page.read.flatMap((read): RefusedRow[] => {
        const error = failed.get(read.row)
        return error === undefined ? [] : [{ ...read, error }]
      })
      if (accepted.length > 0) batches.push(await files.addBatch(accepted.map(({ json }) => json)))
      diff.add(accepted, answer)
      const bad = [...page.refused, ...refused].toSorted((a, b) => a.row - b.row)
      await report(bad.map((row) => badRow(row, header)))
      valid += accepted.length
      invalid += bad.length
      return valid + invalid
    },
    rows: () => valid + invalid,
    result(): Findings {
      const counts = { total_rows: valid + invalid, valid_rows: valid, invalid_rows: invalid }
      return { counts, batches, errors, diff: diff.result() }
    },
  }
}

/** The error of a row, with the cell that it is about. */
function badRow({ row, cells, error: { column, code, message } }: RefusedRow, { columns }: Header): BadRow {
  const index = columns.findIndex((one) => one?.name === column)
  const value = cells[index]?.slice(0, CELL_LENGTH).replaceAll('\0', '').toWellFormed() ?? null
  return { cells, error: { row, column, code, message, value } }
}
