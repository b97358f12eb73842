import { Installation } from '@backoffice/contracts/app.ts'
import { z } from 'zod'
import { appsOperation } from '../apps-operation.ts'

/** POST /admin/v1/installations/{id}/decline: declines in the merchant's name. */
export const declineInstallation = appsOperation({
  method: 'POST',
  path: '/admin/v1/installations/{id}/decline',
  summary: 'Decline an installation',
  body: z.strictObject({}).optional(),
  responses: { 200: Installation },
  openPoints: ['OP-81'],
})
