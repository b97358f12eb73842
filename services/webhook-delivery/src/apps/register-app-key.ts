import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { endpointsChanged } from '../endpoints/endpoint.ts'

/**
 * PUT /internal/app-keys/{id}: a key is of an app's installation, and so are the endpoints that the key makes or has
 * made, and `endpoint`, which was made for its manifest (OP-231). May be repeated.
 */
export const registerAppKey = operation({
  method: 'PUT',
  path: '/internal/app-keys/{id}',
  scope: 'internal',
  body: z.strictObject({ installation: z.guid(), provider: z.string(), endpoint: z.guid().nullable() }),
  responses: { 204: null },

  handle: ({ params: { id }, body: { installation, provider, endpoint }, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const { workspaceId } = tx.context
      // In this order the statements are sent; the first one keeps changes of other requests away.
      await Promise.all([
        endpointsChanged(tx),
        tx`
          insert into app_installation (workspace_id, id, provider) values (${workspaceId}, ${installation}, ${provider})
          on conflict do nothing`,
        tx`
          insert into app_key (workspace_id, id, installation_id) values (${workspaceId}, ${id}, ${installation})
          on conflict do nothing`,
        tx`
          update endpoint set made_by = ${id}
          where workspace_id = ${workspaceId} and id = ${endpoint}::uuid and made_by is null`,
      ])
      return new Reply(204)
    }),
})
