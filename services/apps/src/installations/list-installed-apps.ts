import { InstalledApp } from '@backoffice/contracts/app.ts'
import { ListQuery, Page } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { installedAppBody, pageOfInstallations } from '../apps/installation-rows.ts'

/** GET /v1/apps (extension): the workspace's apps that are installed or wait for it, newest first (OP-152). */
export const listInstalledApps = operation({
  method: 'GET',
  path: '/v1/apps',
  operationId: 'listApps',
  summary: 'List the apps of the workspace',
  scope: 'app::read',
  query: ListQuery,
  responses: { 200: Page(InstalledApp) },
  openPoints: ['OP-03', 'OP-152'],
  extension: true,

  handle: ({ query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const page = await pageOfInstallations(tx, query, tx`installation.state in ('PENDING', 'ACTIVE')`)
      return ok({ ...page, items: page.items.map(installedAppBody) })
    }),
})
