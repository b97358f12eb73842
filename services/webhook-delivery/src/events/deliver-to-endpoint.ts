import type { EventRecord } from '@backoffice/contracts/events.ts'
import { accepted, type Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { databaseTime } from '@backoffice/postgres/database-clock.ts'
import { noSuchEndpoint } from '../endpoints/endpoint.ts'
import { deliverMade } from './deliver-made.ts'

/** Makes an event for one endpoint, whatever it subscribes to. Answers 202 with its delivery. Throws `not_found`. */
export async function deliverToEndpoint(
  tx: Transaction,
  endpointId: string,
  event: Pick<EventRecord, 'type' | 'livemode' | 'data'>,
): Promise<Reply> {
  const made = { ...event, workspace_id: tx.context.workspaceId, key: endpointId, occurredAt: await databaseTime(tx) }
  const [found] = await deliverMade(tx, [made], tx`endpoint.id = made.key`)
  if (found === undefined) throw noSuchEndpoint(endpointId)
  const { endpoint_id: _, ...delivery } = found
  return accepted(delivery)
}
