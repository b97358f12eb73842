import { operation } from '@backoffice/http/operation.ts'
import { accepted } from '@backoffice/http/reply.ts'
import { Delivery, type DeliveryRow, deliveryColumns, deliveryView } from './delivery.ts'
import type { Dispatcher } from './dispatcher.ts'
import { DeliveryPath, noSuchDelivery } from './get-delivery.ts'

/**
 * POST /v1/webhooks/{id}/deliveries/{delivery_id}/resend (spec: "any delivery can be re-sent"): one more attempt now, outside
 * the schedule, whatever the delivery's status. A success settles it; a failure changes neither status nor schedule (OP-66).
 */
export const resendDelivery = (dispatcher: Pick<Dispatcher, 'noteWaiting'>) =>
  operation({
    operationId: 'resendWebhookDelivery',
    method: 'POST',
    path: '/v1/webhooks/{id}/deliveries/{delivery_id}/resend',
    summary: 'Send a delivery again',
    scope: 'webhook::create',
    params: DeliveryPath,
    responses: { 202: Delivery },
    openPoints: ['OP-01', 'OP-08', 'OP-60', 'OP-66', 'OP-100'],
    extension: true,

    async handle({ params, now, inWorkspace }) {
      const reply = await inWorkspace(async (tx) => {
        const [delivery] = await tx<DeliveryRow[]>`
          update delivery set resend_at = ${now}
          from endpoint
          where delivery.workspace_id = ${tx.context.workspaceId}
            and delivery.endpoint_id = ${params.id} and delivery.id = ${params.delivery_id}
            and endpoint.workspace_id = delivery.workspace_id and endpoint.id = delivery.endpoint_id
          returning ${deliveryColumns(tx)}`
        if (delivery === undefined) throw noSuchDelivery(params)
        return accepted(deliveryView(delivery))
      })
      dispatcher.noteWaiting([params.id], now)
      return reply
    },
  })
