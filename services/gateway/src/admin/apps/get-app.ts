import { App } from '@backoffice/contracts/app.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import { z } from 'zod'
import { appsOperation } from '../apps-operation.ts'

/** GET /admin/v1/apps/{id}. */
export const getApp = appsOperation({
  method: 'GET',
  path: '/admin/v1/apps/{id}',
  summary: 'Get an app',
  params: z.strictObject({ id: Id }),
  responses: { 200: App },
  openPoints: ['OP-81'],
})
