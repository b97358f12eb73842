import { conflict, notFound } from '@backoffice/contracts/errors.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { APPS_ACTOR, recordActs } from '../admin/admin-operation.ts'

/**
 * POST /internal/app-keys/{id}/activate: lets an app's key work, everywhere within 5 s. Repeating it changes nothing,
 * also once the key is revoked. Throws `conflict` for a key that was revoked before it worked.
 */
export const activateAppKey = operation({
  method: 'POST',
  path: '/internal/app-keys/{id}/activate',
  scope: 'internal',
  responses: { 204: null },

  handle({ params: { id }, context: { requestId }, now, inWorkspace }) {
    return inWorkspace(async (tx) => {
      const { count } = await tx`
        update api_key set activated_at = clock_timestamp()
        where workspace_id = ${tx.context.workspaceId} and id = ${id} and kind = 'app'
          and activated_at is null and revoked_at is null`
      if (count > 0) {
        const acts = [{ action: 'key.activated', target: `keys/${id}` } as const]
        await recordActs(tx, tx.context.workspaceId, acts, { ...APPS_ACTOR, requestId, at: now })
      } else await refuseUnlessActivated(tx, id)
      return new Reply(204)
    })
  },
})

async function refuseUnlessActivated(tx: Transaction, id: string): Promise<void> {
  const [key] = await tx<{ wasActivated: boolean }[]>`
    select activated_at is not null as "wasActivated" from api_key
    where workspace_id = ${tx.context.workspaceId} and id = ${id} and kind = 'app'`
  if (key === undefined) throw notFound([], `App key ${id} does not exist`)
  if (!key.wasActivated) throw conflict([], `App key ${id} has been revoked`)
}
