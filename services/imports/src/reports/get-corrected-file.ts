import { conflict } from '@backoffice/contracts/errors.ts'
import { type AnyOperation, operation } from '@backoffice/http/operation.ts'
import { Streamed } from '@backoffice/http/streamed.ts'
import type { WorkspaceContext } from '@backoffice/postgres/database.ts'
import { CSV, csvFile, spreadsheetLines } from '../files/csv-lines.ts'
import { findingPath } from '../files/file-paths.ts'
import { readBatches } from '../files/stored-rows.ts'
import { cellOf } from '../rows/cells.ts'
import { columnOf, ERROR_COLUMN } from '../rows/header.ts'
import type { Values } from '../rows/row-reader.ts'
import { findSource } from '../sources/source-rows.ts'
import { mistakeOf } from '../validation/report-files.ts'
import { failedBatches, findStored, type ImportFiles, storedHeader } from './stored-import.ts'

/**
 * GET /v1/imports/{id}/corrected.csv (extension, OP-148): the bad rows of the file as they were uploaded, then the rows
 * that could not be applied, with a column `error` that says what to mend. Uploaded again, that column is ignored.
 */
export const getCorrectedFile = (files: ImportFiles): AnyOperation =>
  operation({
    operationId: 'getImportCorrectedFile',
    method: 'GET',
    path: '/v1/imports/{id}/corrected.csv',
    summary: 'Download the bad rows of an import, to correct and upload them',
    scope: 'import::read',
    responses: { 200: new Streamed(CSV, 'sku,stock,error\nLINEN-M,many,stock: must be an integer\n') },
    refusals: ['conflict'],
    openPoints: ['OP-148', 'OP-189'],
    extension: true,

    async handle({ params: { id }, context }) {
      const { status, claim } = await files.db.inWorkspace(context, (tx) => findStored(tx, id))
      if (claim === null) {
        throw conflict(['status'], `is ${status}; the bad rows are there once the file is validated`)
      }
      return csvFile(badRows(files, context, id, claim), `corrected-${id}.csv`)
    },
  })

async function* badRows({ db, storage }: ImportFiles, context: WorkspaceContext, id: string, claim: string) {
  const place = { workspaceId: context.workspaceId, id, claim }
  const path = findingPath(place, 'corrected')
  yield* await storage.read(path)
  const { delimiter, columns } = await storedHeader(storage, path, ERROR_COLUMN)
  const kept = columns.map(columnOf).filter((column) => column !== ERROR_COLUMN)
  // Values of the template have no way back into the columns of another platform; errors.csv has those rows.
  if (findSource(columns) !== undefined) return
  for await (const batch of failedBatches(db, context, id)) {
    const [rows = []] = await readBatches<{ row: number; values: Values }>(storage, place, [batch])
    const errorOf = new Map(batch.errors.map((error) => [error.row, error]))
    const failed = rows.flatMap(({ row, values }) => {
      const error = errorOf.get(row)
      return error === undefined ? [] : [[...kept.map((column) => cellOf(values[column])), mistakeOf(error)]]
    })
    yield spreadsheetLines(failed, delimiter)
  }
}
