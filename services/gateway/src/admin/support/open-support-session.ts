import { created } from '@backoffice/http/reply.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'
import { ownWorkspace } from '../workspaces/workspace.ts'
import { beginSupportSession, begunSession, OpenedSession } from './support-session.ts'

/**
 * POST /admin/v1/workspaces/{id}/support-sessions (OP-291): a token for `/v1` of this workspace, live or sandbox, in
 * the operator's name. It reads for half an hour; the clock of the database ends it. A suspended workspace has
 * them too.
 */
export const openSupportSession = adminOperation({
  method: 'POST',
  path: '/admin/v1/workspaces/{id}/support-sessions',
  summary: 'Open a session of support in a workspace',
  body: z.strictObject({ reason: z.string().trim().min(1).max(255).nullish() }).prefault({}),
  responses: { 201: OpenedSession },

  handle({ params, body: { reason = null }, actor, act, format, operators: { fingerprint } }) {
    const id = newId()
    return act(params.id, [begunSession({ id, reason })], async (tx) => {
      const { livemode } = await ownWorkspace(tx)
      return created(await beginSupportSession(tx, format, { id, operator: actor, reason, livemode, fingerprint }))
    })
  },
})
