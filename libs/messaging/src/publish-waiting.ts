import { setImmediate as turn } from 'node:timers/promises'
import type { EventRecord } from '@backoffice/contracts/events.ts'
import type { LockSession } from '@backoffice/postgres/lock-session.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { meter } from '@backoffice/runtime/metrics.ts'
import { type Kafka, type OutgoingRecord, RecordsRefused } from './kafka-connection.ts'
import { markPublished, markRefused, type OutboxRow, waitingRows } from './outbox-rows.ts'
import { type RecordSerializer, Unserialisable } from './schema-registry.ts'

/** Below the size that a topic accepts by default (1 MiB). */
const REQUEST_BYTES = 900 * 1024
/** Records serialised before the event loop turns: some milliseconds, in which requests wait. */
const TURN_AFTER = 50

const published = meter('relay').createCounter('outbox_published_records', {
  description: 'Outbox rows acknowledged by Kafka',
})
const refused = meter('relay').createCounter('outbox_refused_records', {
  description: 'Outbox rows set aside because they can never be published',
})

/** The destination of a schema's outbox. */
export interface Publishing {
  readonly schema: string
  readonly kafka: Kafka
  readonly serialize: RecordSerializer
  readonly logger: Logger
}

interface Sendable {
  readonly row: OutboxRow
  readonly record: OutgoingRecord
}

/**
 * Publishes one batch of waiting rows and returns its number of rows. A row is marked only after Kafka has acknowledged
 * it, so after a failure the next run sends the rest. A row that can never be sent is set aside with its reason. It
 * delays no other row, not even of its key, since each record has the whole state of its resource.
 */
export async function publishWaiting(session: LockSession, options: Publishing): Promise<number> {
  const rows = await session.answered(waitingRows(session.sql))
  if (rows.length === 0) return 0
  const startedAt = performance.now()

  const setAside = async (row: OutboxRow, reason: string) => {
    options.logger.error(
      { schema: options.schema, event: row.event_id, topic: row.topic, type: row.type, reason },
      'outbox row refused',
    )
    await session.answered(markRefused(session.sql, row, reason))
    refused.add(1, { schema: options.schema, topic: row.topic })
  }
  const send = async (batch: readonly Sendable[]): Promise<void> => {
    try {
      await options.kafka.produce(batch.map(({ record }) => record))
    } catch (error) {
      const [first] = batch
      if (!(error instanceof RecordsRefused) || !first) throw error
      if (batch.length === 1) return setAside(first.row, error.message)
      const middle = batch.length >> 1
      await send(batch.slice(0, middle))
      return send(batch.slice(middle))
    }
    const sent = batch.map(({ row }) => row)
    await session.answered(markPublished(session.sql, sent))
    published.add(sent.length, { schema: options.schema })
  }

  const sendables: Sendable[] = []
  for (const [index, row] of rows.entries()) {
    if (index % TURN_AFTER === TURN_AFTER - 1) await turn()
    try {
      sendables.push({ row, record: await recordOf(row, options) })
    } catch (error) {
      if (!(error instanceof Unserialisable)) throw error
      await setAside(row, error.message)
    }
  }
  for (const batch of requestsOf(sendables)) await send(batch)
  options.logger.info(
    { schema: options.schema, records: rows.length, duration_ms: Math.round(performance.now() - startedAt) },
    'outbox published',
  )
  return rows.length
}

async function recordOf(row: OutboxRow, { serialize }: Publishing): Promise<OutgoingRecord> {
  const { topic, key, payload } = row
  const value: EventRecord = {
    id: row.event_id,
    type: row.type,
    workspace_id: row.workspace_id,
    livemode: row.livemode,
    occurred_at: row.occurred_at.toISOString(),
    data: payload,
  }
  return {
    topic,
    key,
    value: payload === null ? null : await serialize(topic, value),
    headers: { traceparent: row.traceparent },
  }
}

/** Splits a batch, in its order, into requests of at most REQUEST_BYTES; a larger record goes alone. */
function requestsOf(sendables: readonly Sendable[]): Sendable[][] {
  const requests: Sendable[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const sendable of sendables) {
    const size = sendable.record.value?.length ?? 0
    if (bytes + size > REQUEST_BYTES) {
      requests.push([])
      bytes = 0
    }
    requests.at(-1)?.push(sendable)
    bytes += size
  }
  return requests
}
