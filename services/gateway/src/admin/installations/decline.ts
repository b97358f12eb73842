import { Installation } from '@backoffice/contracts/app.ts'
import { z } from 'zod'
import { appsOperation } from '../apps-operation.ts'

/** POST /admin/v1/installations/{id}/decline: declines in the merchant's name (OP-81). */
export const declineInstallation = appsOperation({
  method: 'POST',
  path: '/admin/v1/installations/{id}/decline',
  summary: "Decline an app in the merchant's name",
  body: z.strictObject({}).optional(),
  responses: { 200: Installation },
})
