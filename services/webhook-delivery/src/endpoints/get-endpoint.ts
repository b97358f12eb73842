import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { ENDPOINT, Endpoint, readEndpoint } from './endpoint.ts'

/** GET /v1/webhooks/{id}: one endpoint, without its secrets (OP-60). */
export const getEndpoint = operation({
  operationId: 'getWebhookEndpoint',
  method: 'GET',
  path: '/v1/webhooks/{id}',
  summary: 'Read a webhook endpoint',
  scope: 'webhook::read',
  responses: { 200: Endpoint },
  openPoints: ['OP-60', 'OP-62'],
  extension: true,

  handle: ({ params, inWorkspace }) =>
    inWorkspace(async (tx) => ok(ENDPOINT.answerOf(await readEndpoint(tx, params.id)))),
})
