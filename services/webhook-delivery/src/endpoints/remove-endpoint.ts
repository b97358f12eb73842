import { Id } from '@backoffice/contracts/fields.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { deleteFromWorkspace } from './delete-endpoint.ts'
import { takeEndpointId } from './put-endpoint.ts'

/**
 * DELETE /internal/endpoints/{id}: deletes the endpoint of an app as `DELETE /v1/webhooks/{id}` does. Answers 204
 * without an endpoint too: apps repeats the request, and the merchant may have deleted the endpoint. The id creates no
 * endpoint afterwards, since a request to create it may arrive late.
 */
export const removeEndpoint = operation({
  method: 'DELETE',
  path: '/internal/endpoints/{id}',
  summary: 'Delete the webhook endpoint of an app',
  scope: 'internal',
  params: z.strictObject({ id: Id }),
  responses: { 204: null },
  openPoints: ['OP-97'],

  handle: ({ params, inWorkspace }) =>
    inWorkspace(async (tx) => {
      await takeEndpointId(tx, params.id)
      await deleteFromWorkspace(tx, params.id)
      return new Reply(204)
    }),
})
