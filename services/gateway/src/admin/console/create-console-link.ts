import { Timestamp } from '@backoffice/contracts/fields.ts'
import { created } from '@backoffice/http/reply.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'
import { NewScopes } from '../keys/key.ts'

const Body = z
  .strictObject({
    page: z.literal('console'),
    scopes: NewScopes.optional(),
    support: z.strictObject({ reason: z.string().trim().min(1).max(255) }).optional(),
    /** Until when it is to be opened, in seconds. */
    expires_in: z.int().min(60).max(86_400).default(600),
  })
  .refine(({ scopes, support }) => scopes === undefined || support === undefined, {
    path: ['scopes'],
    message: 'must be absent with support, which reads',
  })

/**
 * POST /admin/v1/workspaces/{id}/links (OP-310): lets a browser into the console of a workspace, live or sandbox, once:
 * for a session with these scopes, every one unless given, or for a session of support of this operator (OP-291).
 */
export const createConsoleLink = adminOperation({
  method: 'POST',
  path: '/admin/v1/workspaces/{id}/links',
  summary: 'Make a one-time link to the console of a workspace',
  body: Body,
  responses: { 201: z.strictObject({ url: z.url(), expires_at: Timestamp }) },

  handle({ params: { id }, body, actor, act, links, operators: { fingerprint } }) {
    const { page, scopes = ['*'], support, expires_in } = body
    const session = newId()
    const may = support === undefined ? { scopes } : { operator: actor, reason: support.reason, fingerprint }
    const reason = support?.reason ?? null
    const made = { action: 'link.created', target: `workspaces/${id}`, session_id: session, reason } as const
    return act(id, [made], async (tx) => created(await links.create(tx, { page, id: session, ...may }, expires_in)))
  },
})
