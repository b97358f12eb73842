import { Who } from '@backoffice/contracts/app.ts'
import { Id, Timestamp, TimestampInput } from '@backoffice/contracts/fields.ts'
import { Page, PageQuery } from '@backoffice/contracts/pagination.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { countedPage } from '@backoffice/postgres/lists/counted-page.ts'
import { boundsOf, isWithin } from '@backoffice/postgres/lists/hour-page.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'

/** Entries are numbered, not in the order of `at`. */
const EntryId = z.string().regex(/^\d{1,18}$/, 'must be the id of an entry: a number')

export const AuditEntry = z.strictObject({
  id: EntryId,
  at: Timestamp,
  who: Who.nullable(),
  actor: z.string(),
  action: z.string(),
  target: z.string(),
  request_id: z.string(),
  session_id: Id.nullable(),
  reason: z.string().nullable(),
})

/** The filters that an index serves, each by its column. */
const COLUMNS = {
  workspace: 'workspace_id',
  actor: 'actor',
  action: 'action',
  target: 'target',
  session: 'session_id',
} as const
type Filter = keyof typeof COLUMNS
const FILTERS = Object.keys(COLUMNS) as Filter[]

const Text = z.string().min(1).optional()
const AuditQuery = PageQuery.extend({
  after: EntryId.optional(),
  workspace: Id.optional(),
  session: Id.optional(),
  actor: Text,
  action: Text,
  target: Text,
  since: TimestampInput.optional(),
  until: TimestampInput.optional(),
})

/** GET /admin/v1/audit: who did what, newest first by `at`, by filters that all hold (OP-86, OP-290). */
export const listAudit = adminOperation({
  method: 'GET',
  path: '/admin/v1/audit',
  summary: 'List who did what, newest first',
  query: AuditQuery,
  responses: { 200: Page(AuditEntry) },

  async handle({ query, lists }) {
    const given = FILTERS.filter((name) => query[name] !== undefined)
    const filters = given.map((name) => lists`and ${lists(COLUMNS[name])} = ${query[name] ?? null}`)
    const page = await countedPage(lists, query, {
      columns: lists`audit.id::text, at, ${whoOf(lists)} as who, actor, action, target, request_id, session_id, reason`,
      source: lists`
        from audit where ${isWithin(lists, 'at', boundsOf(lists, query))}
        ${filters.reduce((all, filter) => lists`${all} ${filter}`, lists``)}`,
      by: ['audit.at', 'audit.id'],
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
