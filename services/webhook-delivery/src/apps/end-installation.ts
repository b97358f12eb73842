import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { endpointsChanged } from '../endpoints/endpoint.ts'

/**
 * POST /internal/app-installations/{id}/end: deletes all endpoints of an app that is uninstalled, and no key of it
 * makes another one (OP-232). `keys` are those that may not be registered. May be repeated.
 */
export const endInstallation = operation({
  method: 'POST',
  path: '/internal/app-installations/{id}/end',
  scope: 'internal',
  body: z.strictObject({ provider: z.string(), keys: z.array(z.guid()).max(10) }),
  responses: { 204: null },

  handle: ({ params: { id }, body: { provider, keys }, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const { workspaceId } = tx.context
      // In this order the statements are sent: an endpoint is made before the first one, or is refused afterwards.
      await Promise.all([
        endpointsChanged(tx),
        tx`
          insert into app_installation as known (workspace_id, id, provider, ended_at)
          values (${workspaceId}, ${id}, ${provider}, clock_timestamp())
          on conflict (workspace_id, id) do update set ended_at = coalesce(known.ended_at, excluded.ended_at)`,
        tx`
          insert into app_key (workspace_id, id, installation_id)
          select ${workspaceId}, key_id, ${id} from unnest(${keys}::text[]) as key_id
          on conflict do nothing`,
        tx`
          delete from endpoint where workspace_id = ${workspaceId} and made_by in (
            select id from app_key where workspace_id = ${workspaceId} and installation_id = ${id}
          )`,
      ])
      return new Reply(204)
    }),
})
