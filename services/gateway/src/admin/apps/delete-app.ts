import { AppStatus } from '@backoffice/contracts/app.ts'
import { appsOperation } from '../apps-operation.ts'

/** DELETE /admin/v1/apps/{id} (OP-229): uninstalls an app in all workspaces, and then deletes it. */
export const deleteApp = appsOperation({
  method: 'DELETE',
  path: '/admin/v1/apps/{id}',
  summary: 'Delete an app, and uninstall it in all workspaces',
  responses: { 202: AppStatus },
})
