import { conflict } from '@backoffice/contracts/errors.ts'
import { Id, Name } from '@backoffice/contracts/fields.ts'
import { created, Reply } from '@backoffice/http/reply.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import { isUniqueViolation } from '@backoffice/postgres/postgres-errors.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'
import { sandboxOf, statusOf, WorkspaceHead } from './workspace.ts'

/** A live workspace and its sandbox, or null (architecture: Admin API). */
export const Workspace = WorkspaceHead.extend({
  livemode: z.literal(true),
  sandbox: z.strictObject({ id: Id, livemode: z.literal(false) }).nullable(),
  status: z.enum(['ACTIVE', 'SUSPENDED']),
})

const NewWorkspace = z.strictObject({
  name: Name,
  domain: z.hostname().max(253).nullish(),
  sandbox: z.boolean().default(false),
})

/**
 * POST /admin/v1/workspaces (OP-86, OP-301). A sandbox is a workspace of its own, with its own keys and settings.
 * Throws `conflict` when the Idempotency-Key made another workspace, or one that is deleted.
 */
export const createWorkspace = adminOperation({
  method: 'POST',
  path: '/admin/v1/workspaces',
  summary: 'Create a workspace, with a sandbox if asked for',
  takesKey: true,
  body: NewWorkspace,
  responses: { 201: Workspace },

  async handle({ body, now, requestKey, act, worker }) {
    const { name, domain = null } = body
    const id = newId()
    const sandbox = body.sandbox ? { id: newId(), livemode: false as const } : null
    const live = { id, parent: id, name, domain, created_at: now, request_key: requestKey }
    const rows = sandbox ? [live, { ...live, id: sandbox.id, request_key: null }] : [live]
    try {
      await act(id, [{ action: 'workspace.created', target: `workspaces/${id}` }], async (tx) => {
        await tx`insert into workspace ${tx(rows)}`
      })
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      return new Reply(201, await madeBefore(worker, requestKey, body), undefined, true)
    }
    return created({ id, name, domain, livemode: true, sandbox, status: 'ACTIVE' })
  },
})

/** The workspace that the same request has made. */
async function madeBefore(
  worker: Sql,
  requestKey: string | null,
  { name, domain, sandbox }: z.output<typeof NewWorkspace>,
) {
  const [made] = await worker<(z.output<typeof Workspace> & { readonly isDeleted: boolean })[]>`
    select id, name, domain, livemode, ${sandboxOf(worker)} as sandbox, ${statusOf(worker)} as status,
      deleted_at is not null as "isDeleted"
    from workspace where request_key = ${requestKey}`
  if (made === undefined)
    throw conflict(['Idempotency-Key'], 'was used at this moment; send the request again', 'clashed')
  const { isDeleted, ...workspace } = made
  const isSame =
    name === made.name && (domain ?? null) === made.domain && sandbox === (made.sandbox !== null) && !isDeleted
  if (isSame) return workspace
  const message = `was used to make workspace ${made.id}${isDeleted ? ', which is deleted' : ''}; send a new key`
  throw conflict(['Idempotency-Key'], message, 'key_reused')
}
