import { conflict } from '@backoffice/contracts/errors.ts'
import { Import } from '@backoffice/contracts/import.ts'
import { operation } from '@backoffice/http/operation.ts'
import { accepted } from '@backoffice/http/reply.ts'
import { endIfAnswered } from './end-import.ts'
import { findImport, type ImportRow, importBody, importColumns } from './import-row.ts'

/** POST /v1/imports/{id}/cancel (extension of OP-50): batches under way are still applied. May be repeated. */
export const cancelImport = operation({
  operationId: 'cancelImport',
  method: 'POST',
  path: '/v1/imports/{id}/cancel',
  summary: 'Cancel an import',
  scope: 'import::create',
  responses: { 202: Import },
  events: ['import.completed'],
  openPoints: ['OP-08', 'OP-50'],
  extension: true,

  handle: ({ params: { id }, context, now, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [cancelled] = await tx<ImportRow[]>`
        update import set
          status = 'CANCELLED', updated_at = now(),
          ends_at_batch = least(ends_at_batch, next_batch),
          ended_at = case when started_at is null then now() end
        where workspace_id = ${context.workspaceId} and id = ${id}
          and status in ('UPLOADED', 'VALIDATING', 'VALIDATED', 'INVALID', 'IMPORTING')
        returning ${importColumns(tx)}`
      if (cancelled !== undefined) {
        await endIfAnswered(tx, id, now)
        return accepted(importBody(cancelled))
      }
      const found = await findImport(tx, id)
      if (found.status !== 'CANCELLED') throw conflict(['status'], `is ${found.status}; the import has ended`)
      return accepted(importBody(found))
    }),
})
