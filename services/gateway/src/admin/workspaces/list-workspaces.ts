import { isId } from '@backoffice/contracts/fields.ts'
import { ListQuery, Page, Words } from '@backoffice/contracts/pagination.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { countedPage } from '@backoffice/postgres/lists/counted-page.ts'
import { adminOperation } from '../admin-operation.ts'
import { Workspace } from './create-workspace.ts'
import { sandboxOf, statusOf } from './workspace.ts'

/**
 * GET /admin/v1/workspaces: live workspaces with their sandboxes, newest first (OP-86). `query` finds them by parts of
 * name and domain, or by the id of either (OP-290).
 */
export const listWorkspaces = adminOperation({
  method: 'GET',
  path: '/admin/v1/workspaces',
  summary: 'List live workspaces with their sandboxes',
  query: ListQuery.extend({ query: Words.optional() }),
  responses: { 200: Page(Workspace) },

  async handle({ query, lists }) {
    const page = await countedPage(lists, query, {
      columns: lists`id, name, domain, livemode, ${sandboxOf(lists)} as sandbox, ${statusOf(lists)} as status`,
      source: lists`from workspace where livemode and deleted_at is null ${matching(lists, query.query)}`,
    })
    return ok(page)
  },
})

/** Reads the row of each workspace: an installation has few, and operators search seldom. */
function matching(sql: AnySql, query: string | undefined): SqlPart {
  if (query === undefined) return sql``
  if (isId(query)) return sql`and id = (select parent from workspace as named where named.id = ${query})`
  const parts = query
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter(Boolean)
  return sql`and lower(name || ' ' || coalesce(domain, '')) like all(${parts.map((part) => `%${part}%`)}::text[])`
}
