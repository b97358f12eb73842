import { AppStatus } from '@backoffice/contracts/app.ts'
import { appsOperation } from '../apps-operation.ts'

/** GET /admin/v1/apps/{id}/status (OP-228, OP-229): whether an app is suspended or being deleted, and everywhere so. */
export const getAppStatus = appsOperation({
  method: 'GET',
  path: '/admin/v1/apps/{id}/status',
  summary: 'Read whether an app is suspended or being deleted, and everywhere so',
  responses: { 200: AppStatus },
})
