import { Who } from '@backoffice/contracts/app.ts'
import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { Page, PageQuery } from '@backoffice/contracts/pagination.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { countedPage } from '@backoffice/postgres/lists/counted-page.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'

export const AuditEntry = z.strictObject({
  at: Timestamp,
  who: Who.nullable(),
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  request_id: z.string(),
})

const AuditQuery = PageQuery.extend({ workspace: Id.optional(), actor: z.string().min(1).optional() })

/** GET /admin/v1/audit: who did what, newest first by `at`, also of one workspace or actor (OP-86). */
export const listAudit = adminOperation({
  method: 'GET',
  path: '/admin/v1/audit',
  query: AuditQuery,
  responses: { 200: Page(AuditEntry) },

  async handle({ query, worker }) {
    const { workspace, actor } = query
    const page = await countedPage(worker, query, {
      columns: worker`at, ${whoOf(worker)} as who, actor, action, target, request_id`,
      source: worker`
        from audit where true
        ${workspace === undefined ? worker`` : worker`and workspace_id = ${workspace}`}
        ${actor === undefined ? worker`` : worker`and actor = ${actor}`}`,
      by: ['at', 'id'],
    })
    return ok(page)
  },
})

/**
 * Who acted. Entries of former versions have the name alone: `merchant` and `apps` were not reserved, so they tell
 * nothing (null) where an operator has or had that name (OP-239).
 */
const whoOf = (sql: AnySql) => sql`
  coalesce(who, case
    when actor not in ('merchant', 'apps') then 'operator'
    when exists (select from operator_token where operator_token.name = audit.actor) then null
    when actor = 'merchant' then 'merchant'
    else 'system'
  end)`
