import { created } from '@backoffice/http/reply.ts'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { hashOf, newSecret } from '../../credentials/secret-text.ts'
import { adminOperation } from '../admin-operation.ts'
import { ownWorkspace } from '../workspaces/workspace.ts'
import { OpenedSession, SESSION_MINUTES } from './support-session.ts'

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

  handle({ params, body: { reason = null }, actor, act, format }) {
    const id = uuidv7()
    const acts = [
      { action: 'support_session.created', target: `support-sessions/${id}`, session_id: id, reason },
    ] as const
    return act(params.id, acts, async (tx) => {
      const { livemode } = await ownWorkspace(tx)
      const [token] = format.textsOf(id, livemode, newSecret(), 'ss')
      const [session] = await tx`
        insert into support_session (workspace_id, id, token_hash, operator, reason, created_at, expires_at)
        values (
          ${params.id}, ${id}, ${Buffer.from(hashOf(token), 'hex')}, ${actor}, ${reason}, now(),
          now() + make_interval(mins => ${SESSION_MINUTES})
        )
        returning id, workspace_id as workspace, operator, reason, created_at, expires_at, ended_at`
      return created({ ...session, livemode, token })
    })
  },
})
