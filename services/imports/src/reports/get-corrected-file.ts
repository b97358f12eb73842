import { conflict } from '@backoffice/contracts/errors.ts'
import { type AnyOperation, operation } from '@backoffice/http/operation.ts'
import { okStream } from '@backoffice/http/reply.ts'
import { savedAs, streamed } from '@backoffice/http/streamed.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import type { FileStorage } from '@backoffice/storage/file-storage.ts'
import { CSV } from '../files/csv-lines.ts'
import { findingPath } from '../files/file-paths.ts'
import { ImportPath } from '../imports/find-import.ts'
import { findStored } from './find-stored.ts'

/**
 * GET /v1/imports/{id}/corrected.csv (extension, OP-148): the bad rows of the file as they were uploaded, with a column `error` that
 * says what to mend. Uploaded again, that column is ignored.
 */
export const getCorrectedFile = (db: Database, storage: FileStorage): AnyOperation =>
  operation({
    method: 'GET',
    path: '/v1/imports/{id}/corrected.csv',
    summary: 'Download the bad rows of an import, to correct and upload them',
    scope: 'import::read',
    params: ImportPath,
    responses: { 200: streamed(CSV) },
    openPoints: ['OP-148'],
    extension: true,

    async handle({ params: { id }, context: { workspaceId, ...rest } }) {
      const { status, claim, isValidated } = await db.inWorkspace({ workspaceId, ...rest }, (tx) => findStored(tx, id))
      if (!isValidated || claim === null) {
        throw conflict(['status'], `is ${status}; the bad rows are there once the file is validated`)
      }
      const content = await storage.read(findingPath({ workspaceId, id, claim }, 'corrected'))
      return okStream(CSV, content, savedAs(`corrected-${id}.csv`))
    },
  })
