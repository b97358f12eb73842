import { App } from '@backoffice/contracts/app.ts'
import { z } from 'zod'
import { appsOperation } from '../apps-operation.ts'

/** PUT /admin/v1/apps/{id}: replaces an app's manifest (OP-81). Apps checks it, as in `registerApp` (OP-80). */
export const updateApp = appsOperation({
  method: 'PUT',
  path: '/admin/v1/apps/{id}',
  summary: 'Replace the manifest of an app',
  body: z.looseObject({}),
  responses: { 200: App },
})
