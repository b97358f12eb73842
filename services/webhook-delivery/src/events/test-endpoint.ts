import { EventType } from '@backoffice/contracts/enabled-events.ts'
import { exampleOfEvent } from '@backoffice/contracts/events.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Delivery } from '../history/delivery.ts'
import { deliverToEndpoint } from './deliver-to-endpoint.ts'

/**
 * POST /v1/webhooks/{id}/test (extension, OP-258): sends the catalogue's example of an event type to this endpoint.
 * `livemode: false` marks it in a live workspace, too.
 */
export const testEndpoint = operation({
  operationId: 'testWebhookEndpoint',
  method: 'POST',
  path: '/v1/webhooks/{id}/test',
  summary: 'Send an example of an event type to a webhook endpoint',
  scope: 'webhook::create',
  body: namedObject('WebhookTestInput', { event_type: EventType }, { event_type: 'order.paid' }),
  responses: { 202: Delivery },
  openPoints: ['OP-08', 'OP-258'],
  extension: true,

  handle: ({ params: { id }, body: { event_type: type }, inWorkspace }) =>
    inWorkspace((tx) => deliverToEndpoint(tx, id, { type, livemode: false, data: exampleOfEvent(type) })),
})
