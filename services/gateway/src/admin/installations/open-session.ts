import { AppSession, Installation } from '@backoffice/contracts/app.ts'
import { Timestamp } from '@backoffice/contracts/fields.ts'
import { created } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'
import { refuseSuspended } from '../workspaces/workspace.ts'

/** POST /admin/v1/installations/{id}/session (OP-83); a suspended workspace has none (OP-157). */
export const openSession = adminOperation({
  method: 'POST',
  path: '/admin/v1/installations/{id}/session',
  summary: 'Get a token for the embedded page of an app',
  body: z.strictObject({}).optional(),
  responses: { 201: z.strictObject({ token: z.string(), expires_at: Timestamp, embed_url: z.url() }) },

  async handle({ params: { id }, askApps, act, links }) {
    const path = `/internal/installations/${id}` as const
    const { workspace } = await askApps({ method: 'GET', path, answer: Installation })
    const session = await askApps({ method: 'POST', path: `${path}/session`, answer: AppSession })
    const { token, expires_at, provider } = session
    return act(workspace, [{ action: 'session.created', target: `installations/${id}` }], async (tx) => {
      await refuseSuspended(tx)
      const { url } = await links.create(tx, { page: 'embed', provider, installationId: id })
      return created({ token, expires_at, embed_url: url })
    })
  },
})
