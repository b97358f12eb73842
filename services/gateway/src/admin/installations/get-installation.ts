import { Installation } from '@backoffice/contracts/app.ts'
import { appsOperation } from '../apps-operation.ts'

/** GET /admin/v1/installations/{id}. */
export const getInstallation = appsOperation({
  method: 'GET',
  path: '/admin/v1/installations/{id}',
  summary: 'Get an installation',
  responses: { 200: Installation },
  openPoints: ['OP-81'],
})
