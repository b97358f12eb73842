import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { Page, PageQuery } from '@backoffice/contracts/pagination.ts'
import { ok } from '@backoffice/http/reply.ts'
import { countedPage } from '@backoffice/postgres/lists/counted-page.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'

const Operator = z.strictObject({
  id: Id,
  name: z.string(),
  created_at: Timestamp,
  last_used_at: Timestamp.nullable(),
  revoked_at: Timestamp.nullable(),
})
export type Operator = z.output<typeof Operator>

/** GET /admin/v1/operators: operator tokens with the revoked ones, newest first (OP-86). */
export const listOperators = adminOperation({
  method: 'GET',
  path: '/admin/v1/operators',
  summary: 'List operator tokens',
  query: PageQuery,
  responses: { 200: Page(Operator) },

  async handle({ query, lists }) {
    const page = await countedPage(lists, query, {
      columns: lists`id, name, created_at, last_used_at, revoked_at`,
      source: lists`from operator_token`,
    })
    return ok(page)
  },
})
