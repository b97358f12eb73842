import { Timestamp } from '@backoffice/contracts/fields.ts'
import { Page, PageQuery, pageOf, pageView } from '@backoffice/contracts/pagination.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { adminOperation } from '../admin/admin-operation.ts'

const AuditEntry = z.strictObject({
  at: Timestamp,
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  request_id: z.string(),
})

/** GET /admin/v1/audit: what operators did, newest first (OP-86). */
export const listAudit = adminOperation({
  method: 'GET',
  path: '/admin/v1/audit',
  summary: 'List what operators did',
  query: PageQuery,
  responses: { 200: Page(AuditEntry) },
  openPoints: ['OP-86'],

  async handle({ query, worker }) {
    const { page, size, offset } = pageOf(query)
    const [rows, [{ total }]] = await Promise.all([
      worker<{ at: Date; actor: string; action: string; target: string; request_id: string }[]>`
        select at, actor, action, target, request_id from audit order by id desc limit ${size} offset ${offset}`,
      worker<[{ total: number }]>`select count(*) as total from audit`,
    ])
    const items = rows.map((row) => ({ ...row, at: row.at.toISOString() }))
    return ok(pageView(page, size, total, items))
  },
})
