import { operation } from '@backoffice/http/operation.ts'
import { accepted } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { databaseTime } from '@backoffice/postgres/database-clock.ts'
import { v7 as uuidv7 } from 'uuid'
import { noSuchEndpoint } from '../endpoints/endpoint.ts'
import { Delivery, type DeliveryRow, deliveryColumns, deliveryView } from '../history/delivery.ts'
import { notifyDue } from '../shards/notify-due.ts'
import { envelopeOf } from './matching.ts'

const PING = 'webhook.ping'

/** POST /v1/webhooks/{id}/ping (spec: Webhooks): to this endpoint, whatever it subscribes to (OP-100). */
export const pingEndpoint = operation({
  operationId: 'pingWebhookEndpoint',
  method: 'POST',
  path: '/v1/webhooks/{id}/ping',
  summary: 'Send a webhook.ping event to a webhook endpoint',
  scope: 'webhook::create',
  responses: { 202: Delivery },
  openPoints: ['OP-01', 'OP-08', 'OP-60', 'OP-100'],

  handle: ({ params, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const delivery = await insertPing(tx, params.id)
      if (delivery === undefined) throw noSuchEndpoint(params.id)
      await notifyDue(tx, [params.id])
      return accepted(deliveryView(delivery))
    }),
})

/** Undefined when the workspace has no such endpoint. */
async function insertPing(tx: Transaction, endpointId: string): Promise<DeliveryRow | undefined> {
  const { workspaceId, livemode } = tx.context
  const now = await databaseTime(tx)
  const eventId = uuidv7({ msecs: now.getTime() })
  const deliveryId = uuidv7({ msecs: now.getTime() })
  const record = {
    id: eventId,
    type: PING,
    workspace_id: workspaceId,
    livemode,
    occurred_at: now.toISOString(),
    data: { id: endpointId },
  }
  const [delivery] = await tx<DeliveryRow[]>`
    with pinged as (
      select id from endpoint where workspace_id = ${workspaceId} and id = ${endpointId}
    ), stored as (
      insert into event (workspace_id, id, type, key, body, occurred_at)
      select ${workspaceId}, ${eventId}, ${PING}, id, ${envelopeOf(record)}, ${now} from pinged
    )
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, next_attempt_at, created_at)
    select ${workspaceId}, id, ${deliveryId}, ${eventId}, ${PING}, ${now}, ${now} from pinged
    returning ${deliveryColumns(tx)}`
  return delivery
}
