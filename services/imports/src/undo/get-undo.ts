import { notFound } from '@backoffice/contracts/errors.ts'
import { ImportUndo } from '@backoffice/contracts/import.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { findImport, ImportPath } from '../imports/find-import.ts'
import { findUndo } from './find-undo.ts'

/** GET /v1/imports/{id}/undo (extension of OP-50): how far the undo of an import is. */
export const getUndo = operation({
  operationId: 'getImportUndo',
  method: 'GET',
  path: '/v1/imports/{id}/undo',
  summary: 'Get the undo of an import',
  scope: 'import::read',
  params: ImportPath,
  responses: { 200: ImportUndo },
  openPoints: ['OP-151'],
  extension: true,

  handle: ({ params: { id }, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const undo = await findUndo(tx, id)
      if (undo !== undefined) return ok(undo)
      await findImport(tx, id)
      throw notFound(['id'], `the import ${id} was not undone`)
    }),
})
