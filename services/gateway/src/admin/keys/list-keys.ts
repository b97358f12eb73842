import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { Page, PageQuery, pageOf, pageView } from '@backoffice/contracts/pagination.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'
import { unknownWorkspace } from '../workspaces/find-workspace.ts'
import { KEY_KINDS } from './issue-key.ts'

/** An API key without the key itself. `last_used_at` is up to a minute behind. */
export const Key = z.strictObject({
  id: Id,
  name: z.string(),
  kind: z.enum(KEY_KINDS),
  scopes: z.array(z.string()),
  livemode: z.boolean(),
  created_at: Timestamp,
  expires_at: Timestamp.nullable(),
  last_used_at: Timestamp.nullable(),
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
      worker<KeyRow[]>`
        select id, name, kind, scopes, created_at, expires_at, last_used_at, revoked_at from api_key
        where workspace_id = ${params.id}
        order by id desc limit ${size} offset ${offset}`,
      worker<{ livemode: boolean; total: number }[]>`
        select livemode, (select count(*) from api_key where workspace_id = workspace.id) as total
        from workspace where id = ${params.id}`,
    ])
    if (workspace === undefined) throw unknownWorkspace(params.id)
    const items = rows.map((row) => keyView(row, workspace.livemode))
    return ok(pageView(page, size, workspace.total, items))
  },
})

/** The columns of a key that answers show. */
export type KeyRow = Pick<z.output<typeof Key>, 'id' | 'name' | 'kind' | 'scopes'> & {
  readonly created_at: Date
  readonly expires_at: Date | null
  readonly last_used_at: Date | null
  readonly revoked_at: Date | null
}

/** A key as answers show it. */
export function keyView(row: KeyRow, livemode: boolean): z.output<typeof Key> {
  const { id, name, kind, scopes, created_at, expires_at, last_used_at, revoked_at } = row
  return {
    id,
    name,
    kind,
    scopes,
    livemode,
    created_at: created_at.toISOString(),
    expires_at: expires_at?.toISOString() ?? null,
    last_used_at: last_used_at?.toISOString() ?? null,
    revoked_at: revoked_at?.toISOString() ?? null,
  }
}
