import type { EventRecord } from '@backoffice/contracts/events.ts'
import { accepted, type Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { databaseTime } from '@backoffice/postgres/database-clock.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { noSuchEndpoint } from '../endpoints/endpoint.ts'
import { deliveryColumns } from '../history/delivery.ts'
import { notifyDue } from '../shards/notify-due.ts'
import { envelopeOf } from './matching.ts'

/**
 * Makes an event of this moment for one endpoint, whatever it subscribes to, and answers 202 with its delivery. Such
 * events of an endpoint keep their order. Throws `not_found`.
 */
export async function deliverToEndpoint(
  tx: Transaction,
  endpointId: string,
  { type, livemode, data }: Pick<EventRecord, 'type' | 'livemode' | 'data'>,
): Promise<Reply> {
  const { workspaceId } = tx.context
  const now = await databaseTime(tx)
  const eventId = newId(now)
  const deliveryId = newId(now)
  const occurredAt = now.toISOString()
  const body = envelopeOf({ id: eventId, type, workspace_id: workspaceId, livemode, occurred_at: occurredAt, data })
  const [delivery] = await tx`
    with addressed as (
      select id from endpoint where workspace_id = ${workspaceId} and id = ${endpointId}
    ), stored as (
      insert into event (workspace_id, id, type, key, body, occurred_at)
      select ${workspaceId}, ${eventId}, ${type}, id, ${body}, ${now} from addressed
    )
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, next_attempt_at, created_at)
    select ${workspaceId}, id, ${deliveryId}, ${eventId}, ${type}, ${now}, ${now} from addressed
    returning ${deliveryColumns(tx)}`
  if (delivery === undefined) throw noSuchEndpoint(endpointId)
  await notifyDue(tx, [endpointId])
  return accepted(delivery)
}
