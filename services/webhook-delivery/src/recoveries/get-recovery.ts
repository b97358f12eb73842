import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { EndpointRecovery, readRecovery } from './recovery.ts'

/** GET /v1/webhooks/{id}/recovery (extension, OP-195): how far the open recovery is, else how the last one ended. */
export const getRecovery = operation({
  operationId: 'getWebhookRecovery',
  method: 'GET',
  path: '/v1/webhooks/{id}/recovery',
  summary: 'Follow the recovery of a webhook endpoint',
  scope: 'webhook::read',
  responses: { 200: EndpointRecovery },
  openPoints: ['OP-195'],
  extension: true,

  handle: ({ params: { id }, inWorkspace }) => inWorkspace(async (tx) => ok(await readRecovery(tx, id))),
})
