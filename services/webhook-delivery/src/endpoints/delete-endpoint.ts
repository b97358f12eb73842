import { Id } from '@backoffice/contracts/fields.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { endpointsChanged, noSuchEndpoint } from './endpoint.ts'

/**
 * DELETE /v1/webhooks/{id} (OP-60). Deletes its secrets too. Its deliveries may be millions and stay: each attempt
 * checks that the endpoint still exists, and otherwise ends the delivery (OP-97).
 */
export const deleteEndpoint = operation({
  operationId: 'deleteWebhookEndpoint',
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
