import { appsOperation } from '../apps-operation.ts'

/** DELETE /admin/v1/installations/{id}: uninstalls an app (OP-84). */
export const uninstallApp = appsOperation({
  method: 'DELETE',
  path: '/admin/v1/installations/{id}',
  summary: 'Uninstall an app',
  responses: { 202: null },
})
