import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { Page, PageQuery } from '@backoffice/contracts/pagination.ts'
import { ok } from '@backoffice/http/reply.ts'
import { countedPage } from '@backoffice/postgres/counted-page.ts'
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

interface OperatorRow {
  readonly id: string
  readonly name: string
  readonly created_at: Date
  readonly last_used_at: Date | null
  readonly revoked_at: Date | null
}

/** GET /admin/v1/operators: operator tokens with the revoked ones, newest first (OP-86). */
export const listOperators = adminOperation({
  method: 'GET',
  path: '/admin/v1/operators',
  summary: 'List operators',
  query: PageQuery,
  responses: { 200: Page(Operator) },
  openPoints: ['OP-86'],

  async handle({ query, worker }) {
    const page = await countedPage<OperatorRow>(worker, query, {
      columns: worker`id, name, created_at, last_used_at, revoked_at`,
      source: worker`from operator_token`,
      order: worker`id desc`,
    })
    const items = page.items.map((row) => ({
      ...row,
      created_at: row.created_at.toISOString(),
      last_used_at: row.last_used_at?.toISOString() ?? null,
      revoked_at: row.revoked_at?.toISOString() ?? null,
    }))
    return ok({ ...page, items })
  },
})
