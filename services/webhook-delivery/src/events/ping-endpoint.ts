import { operation } from '@backoffice/http/operation.ts'
import { Delivery } from '../history/delivery.ts'
import { deliverToEndpoint } from './deliver-to-endpoint.ts'

/** POST /v1/webhooks/{id}/ping (spec: Webhooks): to this endpoint, whatever it subscribes to (OP-100). */
export const pingEndpoint = operation({
  operationId: 'pingWebhookEndpoint',
  method: 'POST',
  path: '/v1/webhooks/{id}/ping',
  summary: 'Send a webhook.ping event to a webhook endpoint',
  scope: 'webhook::create',
  responses: { 202: Delivery },
  openPoints: ['OP-01', 'OP-08', 'OP-60', 'OP-100'],

  handle: ({ params: { id }, context: { livemode }, inWorkspace }) =>
    inWorkspace((tx) => deliverToEndpoint(tx, id, { type: 'webhook.ping', livemode, data: { id } })),
})
