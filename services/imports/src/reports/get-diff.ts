import { conflict } from '@backoffice/contracts/errors.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { findImport } from '../imports/import-row.ts'
import { Diff } from '../validation/diff.ts'

/** GET /v1/imports/{id}/diff (extension, OP-147): what applying the valid rows would have done at the validation. */
export const getDiff = operation({
  operationId: 'getImportDiff',
  method: 'GET',
  path: '/v1/imports/{id}/diff',
  summary: 'Show what applying an import would create, update and leave as it is',
  scope: 'import::read',
  responses: { 200: Diff },
  refusals: ['conflict'],
  openPoints: ['OP-147'],
  extension: true,

  handle: ({ params: { id }, context, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const { status } = await findImport(tx, id)
      const [finding] = await tx<{ diff: Diff }[]>`
        select diff from import_finding where workspace_id = ${context.workspaceId} and import_id = ${id}`
      if (finding === undefined) throw conflict(['status'], `is ${status}; there is a diff once the file is validated`)
      return ok(finding.diff)
    }),
})
