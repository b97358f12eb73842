import { App } from '@backoffice/contracts/app.ts'
import { appsOperation } from '../apps-operation.ts'

/** GET /admin/v1/apps/{id} (OP-81). */
export const getApp = appsOperation({
  method: 'GET',
  path: '/admin/v1/apps/{id}',
  summary: 'Read an app',
  responses: { 200: App },
})
