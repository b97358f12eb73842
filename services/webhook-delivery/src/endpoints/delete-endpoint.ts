import { Id } from '@backoffice/contracts/fields.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { endpointsChanged } from './endpoint-set.ts'
import { noSuchEndpoint } from './get-endpoint.ts'

/**
 * DELETE /v1/webhooks/{id} (OP-60). Secrets go with it. Its deliveries may be millions, so they are not touched here: each
 * attempt asks whether its endpoint is still there, and one that is not ends the delivery (OP-97).
 */
export const deleteEndpoint = operation({
  method: 'DELETE',
  path: '/v1/webhooks/{id}',
  summary: 'Delete a webhook endpoint',
  scope: 'webhook::delete',
  params: z.strictObject({ id: Id }),
  responses: { 204: null },
  openPoints: ['OP-01', 'OP-60', 'OP-97'],
  extension: true,

  handle: ({ params, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const { count } = await tx`
        delete from endpoint where workspace_id = ${tx.context.workspaceId} and id = ${params.id}`
      if (count === 0) throw noSuchEndpoint(params.id)
      await endpointsChanged(tx)
      return new Reply(204)
    }),
})
