import { EVENT_TYPES } from '@backoffice/contracts/events.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'

/** GET /v1/webhooks/event-types: every name an endpoint can subscribe to (spec: Webhooks). */
export const listEventTypes = operation({
  operationId: 'listWebhookEventTypes',
  method: 'GET',
  path: '/v1/webhooks/event-types',
  summary: 'List the event names that endpoints can subscribe to',
  scope: 'webhook::read',
  responses: {
    200: namedObject(
      'EventTypeList',
      { event_types: z.array(z.string()) },
      { event_types: ['product.created', 'order.paid'] },
    ),
  },
  openPoints: ['OP-57', 'OP-60', 'OP-68', 'OP-69', 'OP-255'],

  async handle() {
    return ok({ event_types: EVENT_TYPES })
  },
})
