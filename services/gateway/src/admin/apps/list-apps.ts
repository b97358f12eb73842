import { App } from '@backoffice/contracts/app.ts'
import { Page, PageQuery } from '@backoffice/contracts/pagination.ts'
import { appsOperation } from '../apps-operation.ts'

/** GET /admin/v1/apps: the apps of the platform (OP-81). */
export const listApps = appsOperation({
  method: 'GET',
  path: '/admin/v1/apps',
  summary: 'List the apps of the platform',
  query: PageQuery,
  responses: { 200: Page(App) },
})
