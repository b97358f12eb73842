import { Installation } from '@backoffice/contracts/app.ts'
import { z } from 'zod'
import { appsOperation } from '../apps-operation.ts'

/** POST /admin/v1/installations/{id}/consent: consents in the merchant's name (OP-81). */
export const consentToInstallation = appsOperation({
  method: 'POST',
  path: '/admin/v1/installations/{id}/consent',
  summary: "Consent to an app in the merchant's name",
  body: z.strictObject({}).optional(),
  responses: { 200: Installation },
})
