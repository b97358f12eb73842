import { AppStatus, SuspensionReason } from '@backoffice/contracts/app.ts'
import { z } from 'zod'
import { appsOperation } from '../apps-operation.ts'

/** POST /admin/v1/apps/{id}/suspend (OP-228): stops an app in all workspaces. */
export const suspendApp = appsOperation({
  method: 'POST',
  path: '/admin/v1/apps/{id}/suspend',
  summary: 'Stop an app in all workspaces',
  body: SuspensionReason,
  responses: { 200: AppStatus },
})

/** POST /admin/v1/apps/{id}/resume (OP-228): an app goes on. */
export const resumeApp = appsOperation({
  method: 'POST',
  path: '/admin/v1/apps/{id}/resume',
  summary: 'Let a suspended app go on',
  body: z.strictObject({}).prefault({}),
  responses: { 200: AppStatus },
})
