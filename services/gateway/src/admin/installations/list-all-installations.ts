import { Installation, InstallationQuery } from '@backoffice/contracts/app.ts'
import { Page } from '@backoffice/contracts/pagination.ts'
import { ok } from '@backoffice/http/reply.ts'
import { adminOperation } from '../admin-operation.ts'

/** GET /admin/v1/installations (OP-230): those of all workspaces, by app, state and error. */
export const listAllInstallations = adminOperation({
  method: 'GET',
  path: '/admin/v1/installations',
  summary: 'List the installations of all workspaces',
  query: InstallationQuery,
  responses: { 200: Page(Installation) },

  async handle({ query, askApps }) {
    const path = '/internal/all-installations'
    return ok(await askApps({ method: 'GET', path, answer: Page(Installation), query }))
  },
})
