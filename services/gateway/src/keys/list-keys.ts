import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { Page, PageQuery, pageOf, pageView } from '@backoffice/contracts/pagination.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { adminOperation } from '../admin/admin-operation.ts'
import { unknownWorkspace } from '../workspaces/find-workspace.ts'

export const Key = z.strictObject({
  id: Id,
  name: z.string(),
  scopes: z.array(z.string()),
  livemode: z.boolean(),
  created_at: Timestamp,
  revoked_at: Timestamp.nullable(),
})

/** GET /admin/v1/workspaces/{id}/keys: a workspace's keys with the revoked ones, newest first (OP-86). */
export const listKeys = adminOperation({
  method: 'GET',
  path: '/admin/v1/workspaces/{id}/keys',
  summary: 'List the API keys of a workspace',
  params: z.strictObject({ id: Id }),
  query: PageQuery,
  responses: { 200: Page(Key) },
  openPoints: ['OP-05', 'OP-86'],

  async handle({ params, query, worker }) {
    const { page, size, offset } = pageOf(query)
    const [rows, [workspace]] = await Promise.all([
      worker<{ created_at: Date; revoked_at: Date | null }[]>`
        select id, name, scopes, created_at, revoked_at from api_key
        where workspace_id = ${params.id}
        order by id desc limit ${size} offset ${offset}`,
      worker<{ livemode: boolean; total: number }[]>`
        select livemode, (select count(*) from api_key where workspace_id = workspace.id) as total
        from workspace where id = ${params.id}`,
    ])
    if (workspace === undefined) throw unknownWorkspace(params.id)
    const items = rows.map((row) => ({
      ...row,
      livemode: workspace.livemode,
      created_at: row.created_at.toISOString(),
      revoked_at: row.revoked_at?.toISOString() ?? null,
    }))
    return ok(pageView(page, size, workspace.total, items))
  },
})
