import { Timestamp } from '@backoffice/contracts/fields.ts'
import { Page, PageQuery } from '@backoffice/contracts/pagination.ts'
import { ok } from '@backoffice/http/reply.ts'
import { countedPage } from '@backoffice/postgres/counted-page.ts'
import { z } from 'zod'
import { adminOperation } from '../admin/admin-operation.ts'

export const AuditEntry = z.strictObject({
  at: Timestamp,
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  request_id: z.string(),
})

/** GET /admin/v1/audit: the acts of operators, newest first (OP-86). */
export const listAudit = adminOperation({
  method: 'GET',
  path: '/admin/v1/audit',
  summary: 'List what operators did',
  query: PageQuery,
  responses: { 200: Page(AuditEntry) },
  openPoints: ['OP-86'],

  async handle({ query, worker }) {
    const page = await countedPage<{ at: Date }>(worker, query, {
      columns: worker`at, actor, action, target, request_id`,
      source: worker`from audit`,
      order: worker`id desc`,
    })
    return ok({ ...page, items: page.items.map((row) => ({ ...row, at: row.at.toISOString() })) })
  },
})
