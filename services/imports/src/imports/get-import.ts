import { Import } from '@backoffice/contracts/import.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { findImport, importBody } from './import-row.ts'

/** GET /v1/imports/{id} (extension of OP-50): its state and progress. */
export const getImport = operation({
  operationId: 'getImport',
  method: 'GET',
  path: '/v1/imports/{id}',
  summary: 'Get an import',
  scope: 'import::read',
  responses: { 200: Import },
  openPoints: ['OP-50', 'OP-51'],
  extension: true,

  handle: ({ params, inWorkspace }) => inWorkspace(async (tx) => ok(importBody(await findImport(tx, params.id)))),
})
