import type { RecordData, RecordType, Topic } from '@backoffice/contracts/events.ts'
import { v7 as uuidv7 } from 'uuid'
import type { Transaction } from './database.ts'

/** One record for Kafka: `key` is the id of what it is about, which orders records about the same thing. */
export interface OutboxRecord {
  readonly topic: Topic
  readonly type: string
  readonly key: string
  readonly data: unknown
}

/** Types a record against its topic's schema. */
export const outboxRecord = <T extends Topic, Type extends RecordType<T>>(
  topic: T,
  type: Type,
  key: string,
  data: RecordData<T, Type>,
): OutboxRecord => ({ topic, type, key, data })

/** The end of what a compacted topic holds under this key: a record without a value. */
export const tombstone = <T extends Topic>(topic: T, type: RecordType<T>, key: string): OutboxRecord => ({
  topic,
  type,
  key,
  data: null,
})

/**
 * Adds records to the outbox in the transaction of the change they tell of. Lock the aggregate's row first: then records
 * about one thing are numbered in commit order.
 */
export async function publish(tx: Transaction, records: OutboxRecord[], occurredAt: Date): Promise<void> {
  if (records.length === 0) return
  tx.hasPublished = true
  const { workspaceId, livemode, traceparent } = tx.context
  const rows = records.map((record) => ({ event_id: uuidv7(), ...record }))
  await tx`
    insert into outbox (event_id, topic, type, key, payload, workspace_id, livemode, traceparent, occurred_at)
    select event_id, topic, type, key, data, ${workspaceId}, ${livemode}, ${traceparent}, ${occurredAt}
    from rows from (
      json_to_recordset(${JSON.stringify(rows)}::text::json) as (event_id uuid, topic text, type text, key text, data json)
    ) with ordinality as record (event_id, topic, type, key, data, ordinal)
    order by ordinal`
}
