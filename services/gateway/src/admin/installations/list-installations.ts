import { Installation } from '@backoffice/contracts/app.ts'
import { Page, PageQuery } from '@backoffice/contracts/pagination.ts'
import { ok } from '@backoffice/http/reply.ts'
import { adminOperation } from '../admin-operation.ts'
import { findWorkspace } from '../workspaces/workspace.ts'

/** GET /admin/v1/workspaces/{id}/installations (OP-81). */
export const listInstallations = adminOperation({
  method: 'GET',
  path: '/admin/v1/workspaces/{id}/installations',
  summary: 'List the installations of a workspace',
  query: PageQuery,
  responses: { 200: Page(Installation) },

  async handle({ params, query, worker, askApps }) {
    const workspace = await findWorkspace(worker, params.id)
    return ok(
      await askApps({ method: 'GET', path: '/internal/installations', answer: Page(Installation), workspace, query }),
    )
  },
})
