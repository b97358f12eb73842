import { Installation } from '@backoffice/contracts/app.ts'
import { Page, PageQuery } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { installationBody, pageOfInstallations } from '../apps/installation-rows.ts'

/** GET /internal/installations: the workspace's installations, those that ended too, newest first (OP-81). */
export const listInstallations = operation({
  method: 'GET',
  path: '/internal/installations',
  scope: 'internal',
  query: PageQuery,
  responses: { 200: Page(Installation) },

  handle: ({ query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const page = await pageOfInstallations(tx, query, tx`true`)
      return ok({ ...page, items: page.items.map(installationBody) })
    }),
})
