import { Page, PageQuery } from '@backoffice/contracts/pagination.ts'
import { ok } from '@backoffice/http/reply.ts'
import { countedPage } from '@backoffice/postgres/lists/counted-page.ts'
import { adminOperation } from '../admin-operation.ts'
import { Workspace } from './create-workspace.ts'

/** GET /admin/v1/workspaces: live workspaces with their sandboxes, newest first (OP-86). */
export const listWorkspaces = adminOperation({
  method: 'GET',
  path: '/admin/v1/workspaces',
  query: PageQuery,
  responses: { 200: Page(Workspace) },

  async handle({ query, worker }) {
    const page = await countedPage(worker, query, {
      columns: worker`
        id, name, domain, livemode,
        (
          select json_build_object('id', id, 'livemode', livemode) from workspace as sandbox
          where sandbox.parent = workspace.id and not sandbox.livemode and deleted_at is null
        ) as sandbox,
        case when suspended_at is null then 'ACTIVE' else 'SUSPENDED' end as status`,
      source: worker`from workspace where livemode and deleted_at is null`,
    })
    return ok(page)
  },
})
