import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import { deleteFromWorkspace } from './delete-endpoint.ts'
import { takeEndpointId } from './put-endpoint.ts'

/**
 * DELETE /internal/endpoints/{id}: answers 204 without an endpoint too, since apps repeats it and the merchant may have
 * deleted it. The id creates no endpoint afterwards: that request may arrive late (OP-97).
 */
export const removeEndpoint = operation({
  method: 'DELETE',
  path: '/internal/endpoints/{id}',
  scope: 'internal',
  responses: { 204: null },

  handle: ({ params, inWorkspace }) =>
    inWorkspace(async (tx) => {
      await takeEndpointId(tx, params.id)
      await deleteFromWorkspace(tx, params.id)
      return new Reply(204)
    }),
})
