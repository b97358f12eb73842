import { ERRORS_SHOWN, type ReportedError } from '@backoffice/contracts/import.ts'
import { type ImportCheckAnswer, reportedText } from '@backoffice/contracts/imports.ts'
import { aboutFile } from '../imports/import-row.ts'
import { type Header, titleOf } from '../rows/header.ts'
import type { RefusedRow, RowPage } from '../rows/row-pages.ts'
import { addToDiff, emptyDiff } from './diff.ts'
import type { Mapping } from './mapping.ts'
import type { BadRow, BatchPlace, ReportFiles } from './report-files.ts'

/** What a validation found. Its files are in the folder (FINDINGS). */
export type Findings = ReturnType<typeof collectFindings>['found']

/** Collects what a validation finds: numbers and the first errors in memory, all the rest in the files. */
export function collectFindings(files: ReportFiles, header: Header, currency: string | null) {
  const found = {
    counts: { total_rows: 0, valid_rows: 0, invalid_rows: 0 },
    batches: [] as BatchPlace[],
    /** The first ERRORS_SHOWN of them; what is told in the end about the file comes last. */
    errors: [] as ReportedError[],
    diff: emptyDiff(),
    mapping: {
      source: header.source,
      currency,
      columns: header.titles.map((column, index) => ({ column, target: header.columns[index]?.name ?? null })),
    } satisfies Mapping,
  }
  const { counts, batches, errors, diff } = found
  let listed = 0
  async function addBadRows(bad: readonly RefusedRow[]): Promise<void> {
    // Those that are not listed are only counted.
    if (listed < counts.invalid_rows) return
    const rows = bad.map((row) => badRow(row, header))
    errors.push(...rows.slice(0, Math.max(0, ERRORS_SHOWN - errors.length)).map(({ error }) => error))
    listed += await files.addBadRows(rows)
  }
  /** Reports errors that are about no row: of the file and its header. */
  async function report(about: readonly ReportedError[]): Promise<void> {
    errors.push(...about)
    await files.addRemarks(about)
  }
  return {
    found,
    report,
    /** Adds a page with the answer of the owner. */
    async add(page: RowPage, answer: ImportCheckAnswer): Promise<void> {
      const failed = new Map(answer.failed.map(({ row, error }) => [row, error]))
      const accepted = page.read.filter(({ row }) => !failed.has(row))
      const refused = page.read.flatMap((read): RefusedRow[] => {
        const error = failed.get(read.row)
        return error === undefined ? [] : [{ ...read, error }]
      })
      if (accepted.length > 0) batches.push(await files.addBatch(accepted.map(({ json }) => json)))
      addToDiff(diff, accepted, answer)
      const bad = [...page.refused, ...refused].toSorted((a, b) => a.row - b.row)
      await addBadRows(bad)
      counts.valid_rows += accepted.length
      counts.invalid_rows += bad.length
      counts.total_rows += accepted.length + bad.length
    },
    /** Reports how many bad rows are not listed. */
    async end(): Promise<void> {
      const left = counts.invalid_rows - listed
      if (left > 0) await report([aboutFile('unprocessable', unlisted(listed, left))])
    },
  }
}

const unlisted = (listed: number, left: number) =>
  `the first ${listed} bad rows are listed, and ${left} more are counted only; correct those first, or look whether the file is one of this template`

/** The error of a row, with the cell that it is about, and the name that the file has for its column. */
function badRow({ row, cells, error: { column, code, message } }: RefusedRow, header: Header): BadRow {
  const cell = cells[header.places.get(column) ?? -1]
  const value = cell === undefined ? null : reportedText(cell)
  return { cells, error: { row, column: titleOf(header, column), code, message, value } }
}
