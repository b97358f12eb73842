import { App } from '@backoffice/contracts/app.ts'
import { z } from 'zod'
import { appsOperation } from '../apps-operation.ts'

/** POST /admin/v1/apps: registers an app. Apps checks the manifest, and names the members that are wrong. */
export const registerApp = appsOperation({
  method: 'POST',
  path: '/admin/v1/apps',
  summary: 'Register an app',
  body: z.looseObject({}),
  responses: { 201: App },
  openPoints: ['OP-80', 'OP-81'],
})
