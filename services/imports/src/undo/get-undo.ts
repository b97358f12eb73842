import { notFound } from '@backoffice/contracts/errors.ts'
import { ImportUndo } from '@backoffice/contracts/import.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { findImport } from '../imports/import-row.ts'

/** GET /v1/imports/{id}/undo (extension of OP-50): how far the undo of an import is. */
export const getUndo = operation({
  operationId: 'getImportUndo',
  method: 'GET',
  path: '/v1/imports/{id}/undo',
  summary: 'Get the undo of an import',
  scope: 'import::read',
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

/** The undo of an import as the API shows it; undefined when nobody asked for one. */
export async function findUndo(tx: Transaction, id: string): Promise<ImportUndo | undefined> {
  const [undo] = await tx<ImportUndo[]>`
    select import_id, status, deleted, restored, kept, kept_rows as rows from import_undo
    where workspace_id = ${tx.context.workspaceId} and import_id = ${id}`
  return undo
}
