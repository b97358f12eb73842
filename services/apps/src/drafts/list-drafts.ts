import { AppDraft } from '@backoffice/contracts/app.ts'
import { ListQuery, Page } from '@backoffice/contracts/pagination.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { countedPage } from '@backoffice/postgres/lists/counted-page.ts'
import { type DraftRow, draftBody, draftColumns } from './draft.ts'

/** GET /v1/sandbox/apps (extension): the drafts of the sandbox, newest first (OP-286). */
export const listDrafts = operation({
  method: 'GET',
  path: '/v1/sandbox/apps',
  operationId: 'listAppDrafts',
  summary: 'List the drafts of apps in the sandbox',
  scope: 'app::read',
  query: ListQuery,
  responses: { 200: Page(AppDraft) },
  openPoints: ['OP-03', 'OP-286'],
  extension: true,

  handle: ({ query, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const page = await countedPage<DraftRow>(tx, query, {
        columns: draftColumns(tx),
        source: tx`from app where sandbox_id = ${tx.context.workspaceId} and deleted_at is null`,
      })
      return ok({ ...page, items: page.items.map(draftBody) })
    }),
})
