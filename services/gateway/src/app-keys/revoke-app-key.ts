import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { type Act, APPS_ACTOR, recordActs } from '../admin/admin-operation.ts'

/**
 * POST /internal/app-keys/{id}/revoke: revokes an app's key, everywhere within 5 s. It is no error when it is revoked
 * already, or was never created. Keys that operators made of it by rotation, before OP-227, have its id in
 * `app_key_id` and go with it.
 */
export const revokeAppKey = operation({
  method: 'POST',
  path: '/internal/app-keys/{id}/revoke',
  scope: 'internal',
  responses: { 204: null },

  handle({ params, context: { requestId }, now, inWorkspace }) {
    return inWorkspace(async (tx) => {
      const revoked = await tx<{ id: string }[]>`
        update api_key set revoked_at = clock_timestamp()
        where workspace_id = ${tx.context.workspaceId} and app_key_id = ${params.id}
          and (revoked_at is null or revoked_at > clock_timestamp())
        returning id`
      const acts = revoked.map(({ id }): Act => ({ action: 'key.revoked', target: `keys/${id}` }))
      const origin = { ...APPS_ACTOR, requestId, at: now }
      if (acts.length > 0) await recordActs(tx, tx.context.workspaceId, acts, origin)
      return new Reply(204)
    })
  },
})
