import { AppStatus } from '@backoffice/contracts/app.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { type AppRow, noSuchApp } from './app-row.ts'
import { statusBody } from './app-status.ts'

/** GET /internal/apps/{id}/status, for GET /admin/v1/apps/{id}/status (OP-228, OP-229). */
export const getAppStatus = operation({
  method: 'GET',
  path: '/internal/apps/{id}/status',
  scope: 'internal',
  responses: { 200: AppStatus },

  handle: ({ params: { id }, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [app] = await tx<AppRow[]>`select * from app where id = ${id}`
      if (app === undefined) throw noSuchApp(id)
      return ok(statusBody(app))
    }),
})
