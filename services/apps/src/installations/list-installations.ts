import { Installation } from '@backoffice/contracts/app.ts'
import { Page, PageQuery } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { countedPage } from '@backoffice/postgres/counted-page.ts'
import {
  type InstallationRow,
  installationBody,
  installationColumns,
  installationsOfApps,
} from '../installation-rows/installation-row.ts'

/** GET /internal/installations: the workspace's installations, those that ended too, newest first (OP-81). */
export const listInstallations = operation({
  method: 'GET',
  path: '/internal/installations',
  summary: 'List the installations of the workspace',
  scope: 'internal',
  query: PageQuery,
  responses: { 200: Page(Installation) },

  handle: ({ query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const page = await countedPage<InstallationRow>(tx, query, {
        columns: installationColumns(tx),
        source: tx`${installationsOfApps(tx)} where installation.workspace_id = ${tx.context.workspaceId}`,
        order: tx`installation.id desc`,
      })
      return ok({ ...page, items: page.items.map(installationBody) })
    }),
})
