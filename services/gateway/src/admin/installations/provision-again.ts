import { Installation } from '@backoffice/contracts/app.ts'
import { z } from 'zod'
import { appsOperation } from '../apps-operation.ts'

/** POST /admin/v1/installations/{id}/provision (OP-227): delivers a new key and a new endpoint to the app. */
export const provisionAgain = appsOperation({
  method: 'POST',
  path: '/admin/v1/installations/{id}/provision',
  summary: 'Give an app a new key and a new endpoint',
  body: z.strictObject({}).optional(),
  responses: { 202: Installation },
})
