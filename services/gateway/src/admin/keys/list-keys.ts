import { Page, PageQuery } from '@backoffice/contracts/pagination.ts'
import { ok } from '@backoffice/http/reply.ts'
import { countedPage } from '@backoffice/postgres/lists/counted-page.ts'
import { adminOperation } from '../admin-operation.ts'
import { findWorkspace } from '../workspaces/workspace.ts'
import { Key, keyColumns } from './key.ts'

/** GET /admin/v1/workspaces/{id}/keys: a workspace's keys with the revoked ones, newest first (OP-05, OP-86). */
export const listKeys = adminOperation({
  method: 'GET',
  path: '/admin/v1/workspaces/{id}/keys',
  summary: 'List the API keys of a workspace',
  query: PageQuery,
  responses: { 200: Page(Key) },

  async handle({ params: { id }, query, lists }) {
    const [page] = await Promise.all([
      countedPage(lists, query, {
        columns: keyColumns(lists),
        source: lists`from api_key join workspace on workspace.id = workspace_id where workspace_id = ${id}`,
        by: ['api_key.id'],
      }),
      findWorkspace(lists, id),
    ])
    return ok(page)
  },
})
