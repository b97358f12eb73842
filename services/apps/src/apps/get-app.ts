import { App } from '@backoffice/contracts/app.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { type AppRow, appBody, noSuchApp } from './app-row.ts'

/** GET /internal/apps/{id}, for GET /admin/v1/apps/{id} (OP-81). */
export const getApp = operation({
  method: 'GET',
  path: '/internal/apps/{id}',
  scope: 'internal',
  responses: { 200: App },

  handle: ({ params: { id }, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [row] = await tx<AppRow[]>`select * from app where id = ${id} and deleted_at is null`
      if (row === undefined) throw noSuchApp(id)
      return ok(appBody(row))
    }),
})
