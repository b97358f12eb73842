import { namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { readSizedValue } from '@backoffice/postgres/lists/sized-rows.ts'
import { z } from 'zod'
import { DeliveryPath, noSuchDelivery } from './get-delivery.ts'

const DeliveryBody = namedObject(
  'DeliveryBody',
  { body: z.string() },
  { body: '{"id":"0198c7a0-0000-7000-8000-000000000052","type":"tag.created"}' },
)

/**
 * GET /v1/webhooks/{id}/deliveries/{delivery_id}/body (extension, OP-259): the text that the next attempt signs and
 * sends, before the first one, too.
 */
export const getDeliveryBody = operation({
  operationId: 'getWebhookDeliveryBody',
  method: 'GET',
  path: '/v1/webhooks/{id}/deliveries/{delivery_id}/body',
  summary: 'Read the body of a delivery',
  scope: 'webhook::read',
  params: DeliveryPath,
  responses: { 200: DeliveryBody },
  openPoints: ['OP-61', 'OP-139', 'OP-259'],
  extension: true,

  handle: ({ params, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const body = await readSizedValue<string>(tx, {
        value: tx`event.body`,
        bytes: tx`octet_length(event.body)`,
        source: tx`
          from delivery
          join endpoint on endpoint.workspace_id = delivery.workspace_id and endpoint.id = delivery.endpoint_id
          join event on event.workspace_id = delivery.workspace_id and event.id = delivery.event_id
          where delivery.workspace_id = ${tx.context.workspaceId} and delivery.endpoint_id = ${params.id}
            and delivery.id = ${params.delivery_id}`,
      })
      if (body === undefined) throw noSuchDelivery(params)
      return ok({ body })
    }),
})
