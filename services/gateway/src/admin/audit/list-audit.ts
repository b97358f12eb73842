import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { Page, PageQuery } from '@backoffice/contracts/pagination.ts'
import { ok } from '@backoffice/http/reply.ts'
import { countedPage } from '@backoffice/postgres/lists/counted-page.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'

export const AuditEntry = z.strictObject({
  at: Timestamp,
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  request_id: z.string(),
})

const AuditQuery = PageQuery.extend({ workspace: Id.optional(), actor: z.string().min(1).optional() })

/** GET /admin/v1/audit: the acts of operators, newest first by `at`, also of one workspace or actor (OP-86). */
export const listAudit = adminOperation({
  method: 'GET',
  path: '/admin/v1/audit',
  query: AuditQuery,
  responses: { 200: Page(AuditEntry) },

  async handle({ query, worker }) {
    const { workspace, actor } = query
    const page = await countedPage(worker, query, {
      columns: worker`at, actor, action, target, request_id`,
      source: worker`
        from audit where true
        ${workspace === undefined ? worker`` : worker`and workspace_id = ${workspace}`}
        ${actor === undefined ? worker`` : worker`and actor = ${actor}`}`,
      by: ['at', 'id'],
    })
    return ok(page)
  },
})
