import type { RecordData, RecordType, Topic } from '@backoffice/contracts/events.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import type { SqlPart } from './comma-separated.ts'
import type { Transaction } from './database.ts'

/** A record for Kafka. `key` is the id of its resource; records with the same key stay in order. */
export interface OutboxRecord {
  readonly topic: Topic
  readonly type: string
  readonly key: string
  readonly data: unknown
  /** When it occurred, where that is not the time of the others. */
  readonly occurredAt?: Date
}

/**
 * When a change of a resource occurred: at `now`, but always after the change before, also when this one has waited for
 * it, or the clocks of two replicas differ. Receivers go by it (webhooks.md).
 */
export const laterThan = (before: Date, now: Date): Date => new Date(Math.max(before.getTime() + 1, now.getTime()))

/** Makes a record; its data is typed by its topic and type. */
export const outboxRecord = <T extends Topic, Type extends RecordType<T>>(
  topic: T,
  type: Type,
  key: string,
  data: RecordData<T, Type>,
  occurredAt?: Date,
): OutboxRecord => ({ topic, type, key, data, ...(occurredAt && { occurredAt }) })

/** A record without a value: it deletes its key from a compacted topic. */
export const tombstone = <T extends Topic>(topic: T, type: RecordType<T>, key: string): OutboxRecord => ({
  topic,
  type,
  key,
  data: null,
})

/**
 * Adds records to the outbox, without waiting: the transaction fails when it cannot (`inTransaction`). Lock the
 * aggregate's row first: they are numbered in the order of the commits then.
 */
export async function publish(tx: Transaction, records: OutboxRecord[], occurredAt: Date): Promise<void> {
  if (records.length === 0) return
  for (const { type } of records) tx.published.add(type)
  const { workspaceId, livemode, traceparent } = tx.context
  const rows = records.map(({ topic, type, key, occurredAt: own = occurredAt }) => ({
    event_id: newId(),
    topic,
    type,
    key,
    occurred_at: own,
  }))
  // An empty line is a tombstone.
  const payloads = records.map(({ data }) => (data === null ? '' : JSON.stringify(data))).join('\n')
  // Payloads are sent beside the rows, one line of JSON each: within the rows they would be parsed three times.
  tx`
    insert into outbox (event_id, topic, type, key, payload, workspace_id, livemode, traceparent, occurred_at)
    select event_id, topic, type, key, payload::json, ${workspaceId}, ${livemode}, ${traceparent}, occurred_at
    from rows from (
      json_to_recordset(${JSON.stringify(rows)}::text::json) as (
        event_id uuid, topic text, type text, key text, occurred_at timestamptz
      ),
      string_to_table(${payloads}, E'\\n', '')
    ) with ordinality as record (event_id, topic, type, key, occurred_at, payload, ordinal)
    order by ordinal`.execute()
}

/**
 * The part of a statement that adds a record to the outbox for each row of a query for `key`, `payload` and
 * `occurred_at`, in their order: for records of rows that PostgreSQL changes and nobody reads.
 */
export function publishRows<T extends Topic>(tx: Transaction, topic: T, type: RecordType<T>, rows: SqlPart) {
  tx.published.add(type)
  const { workspaceId, livemode, traceparent } = tx.context
  return tx`
    insert into outbox (event_id, topic, type, key, payload, workspace_id, livemode, traceparent, occurred_at)
    select uuidv7(), ${topic}, ${type}, key, payload, ${workspaceId}, ${livemode}, ${traceparent}, occurred_at
    from (${rows}) as record`
}
