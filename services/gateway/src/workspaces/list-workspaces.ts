import { Page, PageQuery, pageOf, pageView } from '@backoffice/contracts/pagination.ts'
import { ok } from '@backoffice/http/reply.ts'
import { adminOperation } from '../admin/admin-operation.ts'
import { Workspace } from './create-workspace.ts'

/** GET /admin/v1/workspaces: live workspaces with their sandboxes, newest first (OP-86). */
export const listWorkspaces = adminOperation({
  method: 'GET',
  path: '/admin/v1/workspaces',
  summary: 'List workspaces',
  query: PageQuery,
  responses: { 200: Page(Workspace) },
  openPoints: ['OP-86'],

  async handle({ query, worker }) {
    const { page, size, offset } = pageOf(query)
    const [rows, [{ total }]] = await Promise.all([
      worker<{ id: string; name: string; domain: string | null; sandbox_id: string | null }[]>`
        select live.id, live.name, live.domain, sandbox.id as sandbox_id
        from workspace live
        left join workspace sandbox on sandbox.parent = live.id and not sandbox.livemode
        where live.livemode
        order by live.id desc limit ${size} offset ${offset}`,
      worker<[{ total: number }]>`select count(*) as total from workspace where livemode`,
    ])
    const items = rows.map(({ id, name, domain, sandbox_id: sandbox }) => ({
      id,
      name,
      domain,
      livemode: true,
      sandbox: sandbox === null ? null : { id: sandbox, livemode: false },
    }))
    return ok(pageView(page, size, total, items))
  },
})
