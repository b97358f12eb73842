import { conflict } from '@backoffice/contracts/errors.ts'
import { type AnyOperation, operation } from '@backoffice/http/operation.ts'
import { Streamed } from '@backoffice/http/streamed.ts'
import type { WorkspaceContext } from '@backoffice/postgres/database.ts'
import { BYTE_ORDER_MARK, CSV, csvFile, spreadsheetLines } from '../files/csv-lines.ts'
import { findingPath } from '../files/file-paths.ts'
import { failureOf } from '../imports/import-row.ts'
import { ERROR_HEADER, errorCells } from '../validation/report-files.ts'
import { failedBatches, findStored, type ImportFiles, type StoredImport, storedHeader } from './stored-import.ts'

/** GET /v1/imports/{id}/errors.csv (OP-52): the errors of the validation, then those of applying, by their rows. */
export const getErrorsFile = (files: ImportFiles): AnyOperation =>
  operation({
    operationId: 'getImportErrorsFile',
    method: 'GET',
    path: '/v1/imports/{id}/errors.csv',
    summary: 'Download all errors of an import',
    scope: 'import::read',
    responses: { 200: new Streamed(CSV, `${ERROR_HEADER.join(',')}\n3,stock,bad_request,must be an integer,many\n`) },
    refusals: ['conflict'],
    openPoints: ['OP-52', 'OP-189'],
    extension: true,

    async handle({ params: { id }, context }) {
      const found = await files.db.inWorkspace(context, (tx) => findStored(tx, id))
      if (found.status === 'UPLOADED' || found.status === 'VALIDATING') {
        throw conflict(['status'], `is ${found.status}; the errors are there once the file is validated`)
      }
      return csvFile(errorsOf(files, context, found), `errors-${id}.csv`)
    },
  })

async function* errorsOf({ db, storage }: ImportFiles, context: WorkspaceContext, found: StoredImport) {
  const { id, claim } = found
  let delimiter: string | undefined
  if (claim !== null) {
    const path = findingPath({ workspaceId: context.workspaceId, id, claim }, 'errors')
    yield* await storage.read(path)
    delimiter = (await storedHeader(storage, path, ERROR_HEADER[0])).delimiter
  } else yield `${BYTE_ORDER_MARK}${spreadsheetLines([ERROR_HEADER])}`
  const failure = failureOf(found)
  if (failure.length > 0) yield spreadsheetLines(failure.map(errorCells), delimiter)
  for await (const { errors } of failedBatches(db, context, id)) {
    yield spreadsheetLines(errors.map(errorCells), delimiter)
  }
}
