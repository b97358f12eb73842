import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import type { ReportedError } from '@backoffice/contracts/import.ts'
import { BYTE_ORDER_MARK, type Cells, spreadsheetLines } from '../files/csv-lines.ts'
import { FINDINGS } from '../files/file-paths.ts'
import { columnOf, ERROR_COLUMN } from '../rows/header.ts'

/** Where the rows of a batch are in the file of rows. */
export interface BatchPlace {
  readonly first_byte: number
  readonly bytes: number
  readonly rows: number
}

/** A refused row with its cells. */
export interface BadRow {
  readonly cells: readonly string[]
  readonly error: ReportedError
}

export const ERROR_HEADER = ['row', 'column', 'code', 'message', 'value'] as const

export const errorCells = ({ row, column, code, message, value }: ReportedError) => [row, column, code, message, value]

/** Bad rows that are listed, and the bytes of both their files: a file of mistakes has a short report (OP-189). */
const LISTED_ROWS = 10_000
const LISTED_BYTES = 32 * 1024 * 1024

/**
 * Writes what a validation finds into a folder. `header` are the columns, without empty cells behind them. The files
 * have the separator of the one that was uploaded.
 */
export function openReportFiles(folder: string, header: readonly string[], delimiter: string) {
  const csv = (lines: readonly Cells[]) => spreadsheetLines(lines, delimiter)
  const open = (name: string) => createWriteStream(join(folder, name), { flags: 'wx', mode: 0o600 })
  const [rows, errors, corrected] = [open(FINDINGS.rows), open(FINDINGS.errors), open(FINDINGS.corrected)]
  const all = [rows, errors, corrected]
  const ends = all.map((file) => finished(file))
  const closed = Promise.allSettled(ends)
  const ended = Promise.all(ends)
  ended.catch(() => undefined)
  // A file that is corrected again drops its old error column.
  const kept = header.flatMap((name, index) => (columnOf(name) === ERROR_COLUMN ? [] : [index]))
  errors.write(`${BYTE_ORDER_MARK}${csv([ERROR_HEADER])}`)
  corrected.write(`${BYTE_ORDER_MARK}${csv([[...kept.map((index) => header[index]), ERROR_COLUMN]])}`)
  let bytes = 0
  const listed = { rows: 0, bytes: 0, isFull: false }

  /** The lines of a bad row in the two files. */
  function linesOf({ cells, error }: BadRow): readonly [error: string, correction: string] {
    const line = csv([errorCells(error)])
    if (cells.length === 0) return [line, '']
    const own = kept.map((index) => cells[index])
    return [line, csv([[...own, mistakeOf(error), ...withoutColumn(cells.slice(header.length))]])]
  }

  /** The lines of the rows that are still listed. */
  function* nextLines(bad: readonly BadRow[]) {
    for (const row of bad) {
      if (listed.isFull) return
      const lines = linesOf(row)
      const more = Buffer.byteLength(lines[0]) + Buffer.byteLength(lines[1])
      listed.isFull = listed.rows === LISTED_ROWS || listed.bytes + more > LISTED_BYTES
      if (listed.isFull) return
      listed.rows++
      listed.bytes += more
      yield lines
    }
  }

  async function write(file: WriteStream, text: string | Buffer): Promise<void> {
    if (!file.write(text)) await Promise.race([once(file, 'drain'), ended])
  }
  return {
    /** Adds the rows of a batch, each as JSON. */
    async addBatch(json: readonly string[]): Promise<BatchPlace> {
      const line = Buffer.from(`[${json.join(',')}]\n`)
      const place = { first_byte: bytes, bytes: line.length, rows: json.length }
      bytes += line.length
      await write(rows, line)
      return place
    },
    /** Lists errors that are about no row. */
    addRemarks: (about: readonly ReportedError[]) => write(errors, csv(about.map(errorCells))),
    /** Lists bad rows until there are too many of them; returns how many of these are listed. */
    async addBadRows(bad: readonly BadRow[]): Promise<number> {
      const lines = [...nextLines(bad)]
      await write(errors, lines.map(([error]) => error).join(''))
      await write(corrected, lines.map(([, correction]) => correction).join(''))
      return lines.length
    },
    /** Ends the files and waits until they are written. */
    async end(): Promise<void> {
      for (const file of all) file.end()
      await ended
    },
    /**
     * Closes all files, also incomplete ones, and waits for those that are still being opened: afterwards none is
     * created in the folder or written to.
     */
    async close(): Promise<void> {
      for (const file of all) file.destroy()
      await closed
    },
  }
}

export type ReportFiles = ReturnType<typeof openReportFiles>

/** What the column `error` says. */
export const mistakeOf = ({ column, message }: ReportedError) => (column === '' ? message : `${column}: ${message}`)

/** Cells beyond the header stay visible, and keep the row invalid until it is corrected. Empty ones are dropped. */
const withoutColumn = (cells: readonly string[]) => (cells.every((cell) => cell === '') ? [] : cells)
