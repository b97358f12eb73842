import { App } from '@backoffice/contracts/app.ts'
import { z } from 'zod'
import { appsOperation } from '../apps-operation.ts'

/** POST /admin/v1/apps: registers an app (OP-81). Apps checks the manifest and names wrong members (OP-80). */
export const registerApp = appsOperation({
  method: 'POST',
  path: '/admin/v1/apps',
  summary: 'Register an app by its manifest',
  body: z.looseObject({}),
  responses: { 201: App },
})
