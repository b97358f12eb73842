import { conflict } from '@backoffice/contracts/errors.ts'
import { operation } from '@backoffice/http/operation.ts'
import { accepted } from '@backoffice/http/reply.ts'
import { EndpointRecovery, readRecovery, recoveryColumns } from './recovery.ts'

/**
 * POST /v1/webhooks/{id}/recovery/cancel (extension, OP-195): what is due already is still sent, nothing else. May be
 * repeated.
 */
export const cancelRecovery = operation({
  operationId: 'cancelWebhookRecovery',
  method: 'POST',
  path: '/v1/webhooks/{id}/recovery/cancel',
  summary: 'Cancel the recovery of a webhook endpoint',
  scope: 'webhook::create',
  responses: { 202: EndpointRecovery },
  openPoints: ['OP-01', 'OP-08', 'OP-195'],
  extension: true,

  handle: ({ params: { id }, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const [cancelled] = await tx`
        update recovery set status = 'CANCELLED', ended_at = now()
        where workspace_id = ${tx.context.workspaceId} and endpoint_id = ${id} and status = 'RUNNING'
        returning ${recoveryColumns(tx)}`
      const recovery = cancelled ?? (await readRecovery(tx, id))
      if (recovery.status === 'COMPLETED') throw conflict(['status'], 'is COMPLETED; the recovery has ended')
      return accepted(recovery)
    }),
})
