import { App } from '@backoffice/contracts/app.ts'
import { Page, PageQuery } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { countedPage } from '@backoffice/postgres/lists/counted-page.ts'
import { type AppRow, appBody } from './app-row.ts'

/** GET /internal/apps, for GET /admin/v1/apps: the apps of the platform, newest first; no drafts (OP-81, OP-286). */
export const listApps = operation({
  method: 'GET',
  path: '/internal/apps',
  scope: 'internal',
  query: PageQuery,
  responses: { 200: Page(App) },

  handle: ({ query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const page = await countedPage<AppRow>(tx, query, {
        columns: tx`*`,
        source: tx`from app where sandbox_id is null and deleted_at is null`,
      })
      return ok({ ...page, items: page.items.map(appBody) })
    }),
})
