import { Installation } from '@backoffice/contracts/app.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { z } from 'zod'
import { appsOperation } from '../apps-operation.ts'

/** GET /admin/v1/installations/{id}. */
export const getInstallation = appsOperation({
  method: 'GET',
  path: '/admin/v1/installations/{id}',
  summary: 'Get an installation',
  params: z.strictObject({ id: Id }),
  responses: { 200: Installation },
  openPoints: ['OP-81'],
})
