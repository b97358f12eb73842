import type { EventRecord } from '@backoffice/contracts/events.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import type { z } from 'zod'
import { type Delivery, deliveryColumns } from '../history/delivery.ts'
import { notifyDue } from '../shards/notify-due.ts'
import { envelopeOf } from './matching.ts'

/** An event that this service makes itself, about the endpoint `key`. */
export interface MadeEvent extends Omit<EventRecord, 'id' | 'occurred_at'> {
  readonly key: string
  readonly occurredAt: Date
}

interface MadeDelivery extends z.output<typeof Delivery> {
  readonly endpoint_id: string
}

/**
 * Makes deliveries of events for the endpoints of their workspaces that meet a condition on `endpoint` and the event,
 * `made`. An event of none is not stored. Later ones of an endpoint follow in their order.
 */
export async function deliverMade(tx: AnySql, events: readonly MadeEvent[], condition: SqlPart) {
  const deliveries = await tx<MadeDelivery[]>`
    with planned as materialized (
      select made.*, endpoint.id as endpoint_id
      from json_to_recordset(${JSON.stringify(events.map(eventRow))}::text::json)
        as made (workspace_id uuid, key uuid, id uuid, type text, occurred_at timestamptz, body text)
      join endpoint on endpoint.workspace_id = made.workspace_id and ${condition}
    ), stored as (
      insert into event (workspace_id, id, type, key, body, occurred_at)
      select distinct workspace_id, id, type, key::text, body, occurred_at from planned
    )
    insert into delivery (workspace_id, endpoint_id, id, event_id, event_type, next_attempt_at, created_at)
    select workspace_id, endpoint_id, delivery_id, id, type, uuid_extract_timestamp(delivery_id), uuid_extract_timestamp(delivery_id)
    from (select uuidv7() as delivery_id, * from planned) as numbered
    returning endpoint_id, ${deliveryColumns(tx)}`
  await notifyDue(
    tx,
    deliveries.map(({ endpoint_id }) => endpoint_id),
  )
  return deliveries
}

function eventRow({ occurredAt, ...event }: MadeEvent) {
  const record = { ...event, id: newId(occurredAt), occurred_at: occurredAt.toISOString() }
  return { ...record, body: envelopeOf(record) }
}
