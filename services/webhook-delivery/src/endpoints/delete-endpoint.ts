import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { endpointsChanged, noSuchEndpoint } from './endpoint.ts'

/** DELETE /v1/webhooks/{id} (OP-60), with its secrets. Its deliveries stay: their next attempt ends them (OP-97). */
export const deleteEndpoint = operation({
  operationId: 'deleteWebhookEndpoint',
  method: 'DELETE',
  path: '/v1/webhooks/{id}',
  summary: 'Delete a webhook endpoint',
  scope: 'webhook::delete',
  responses: { 204: null },
  openPoints: ['OP-01', 'OP-60', 'OP-97'],
  extension: true,

  handle: ({ params, inWorkspace }) =>
    inWorkspace(async (tx) => {
      if (!(await deleteFromWorkspace(tx, params.id))) throw noSuchEndpoint(params.id)
      return new Reply(204)
    }),
})

/** Deletes an endpoint of the workspace with its secrets. Returns whether there was one. */
export async function deleteFromWorkspace(tx: Transaction, id: string): Promise<boolean> {
  const { count } = await tx`
    delete from endpoint where workspace_id = ${tx.context.workspaceId} and id = ${id}`
  if (count > 0) await endpointsChanged(tx)
  return count > 0
}
