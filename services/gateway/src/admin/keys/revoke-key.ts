import { ApiError, notFound } from '@backoffice/contracts/errors.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import { adminOperation } from '../admin-operation.ts'

/**
 * DELETE /admin/v1/keys/{id} (OP-86): revokes a key, everywhere within 5 s. Revoking it again is no error and keeps the
 * time of the first revocation.
 */
export const revokeKey = adminOperation({
  method: 'DELETE',
  path: '/admin/v1/keys/{id}',
  summary: 'Revoke an API key',
  responses: { 204: null },

  async handle({ params, worker, act }) {
    const workspaceId = await workspaceOfKey(worker, params.id)
    await act(workspaceId, [{ action: 'key.revoked', target: `keys/${params.id}` }], async (tx) => {
      const { count } = await tx`
        update api_key set revoked_at = least(revoked_at, clock_timestamp())
        where workspace_id = ${workspaceId} and id = ${params.id}`
      if (count === 0) throw keyHasLeft()
    })
    return new Reply(204)
  },
})

/** The workspace of a key known by its id. Throws `not_found` when there is no such key. */
export async function workspaceOfKey(worker: Sql, id: string): Promise<string> {
  const [key] = await worker<{ workspace_id: string }[]>`select workspace_id from api_key where id = ${id}`
  if (key === undefined) throw notFound([], `API key ${id} does not exist`)
  return key.workspace_id
}

/** A reset of its sandbox has just given the key another workspace (OP-287), or its app was uninstalled. */
export const keyHasLeft = () =>
  new ApiError('service_unavailable', 'The key was changed at the same time; send the request again')
