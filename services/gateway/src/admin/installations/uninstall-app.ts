import { appsOperation } from '../apps-operation.ts'

/** DELETE /admin/v1/installations/{id}: uninstalls an app. */
export const uninstallApp = appsOperation({
  method: 'DELETE',
  path: '/admin/v1/installations/{id}',
  summary: 'Uninstall an app',
  responses: { 202: null },
  openPoints: ['OP-84'],
})
