import { App } from '@backoffice/contracts/app.ts'
import { appsOperation } from '../apps-operation.ts'

/** GET /admin/v1/apps/{id}. */
export const getApp = appsOperation({
  method: 'GET',
  path: '/admin/v1/apps/{id}',
  summary: 'Get an app',
  responses: { 200: App },
  openPoints: ['OP-81'],
})
