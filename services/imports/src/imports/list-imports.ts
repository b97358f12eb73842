import { Import } from '@backoffice/contracts/import.ts'
import { ListQuery, Page } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { countedPage } from '@backoffice/postgres/lists/counted-page.ts'
import { type ImportRow, importBody, importColumns } from './import-row.ts'

/** GET /v1/imports (extension of OP-50): newest first. */
export const listImports = operation({
  operationId: 'listImports',
  method: 'GET',
  path: '/v1/imports',
  summary: 'List imports',
  scope: 'import::read',
  query: ListQuery,
  responses: { 200: Page(Import) },
  openPoints: ['OP-03', 'OP-50'],
  extension: true,

  handle: ({ query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const page = await countedPage<ImportRow>(tx, query, {
        columns: importColumns(tx),
        source: tx`from import where workspace_id = ${tx.context.workspaceId}`,
      })
      return ok({ ...page, items: page.items.map(importBody) })
    }),
})
