import { ListQuery, Page } from '@backoffice/contracts/pagination.ts'
import { ok } from '@backoffice/http/reply.ts'
import { countedPage } from '@backoffice/postgres/lists/counted-page.ts'
import { adminOperation } from '../admin-operation.ts'
import { findWorkspace } from '../workspaces/workspace.ts'
import { SupportSession } from './support-session.ts'

/** GET /admin/v1/workspaces/{id}/support-sessions: those of a workspace with the ended ones, newest first (OP-291). */
export const listSupportSessions = adminOperation({
  method: 'GET',
  path: '/admin/v1/workspaces/{id}/support-sessions',
  summary: 'List the sessions of support in a workspace',
  query: ListQuery,
  responses: { 200: Page(SupportSession) },

  async handle({ params: { id }, query, lists }) {
    const [page] = await Promise.all([
      countedPage(lists, query, {
        columns: lists`id, workspace_id as workspace, operator, reason, created_at, expires_at, ended_at`,
        source: lists`from support_session where workspace_id = ${id}`,
        by: ['created_at', 'id'],
      }),
      findWorkspace(lists, id),
    ])
    return ok(page)
  },
})
