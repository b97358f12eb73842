import { setImmediate as turn } from 'node:timers/promises'
import type { EventRecord } from '@backoffice/contracts/events.ts'
import type { LockSession } from '@backoffice/postgres/lock-session.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { meter } from '@backoffice/runtime/metrics.ts'
import { type Kafka, type OutgoingRecord, RecordsRefused } from './kafka-connection.ts'
import { markPublished, markRefused, type OutboxRow } from './outbox-rows.ts'
import { type RecordSerializer, Unserialisable } from './schema-registry.ts'

/** Of a request of small records. To encode it takes some milliseconds, in which requests wait. */
const REQUEST_BYTES = 256 * 1024
/** The members of a record beside its payload, and its headers; about. */
const MEMBERS_BYTES = 300
/** Bytes serialised before the event loop turns: a millisecond or two, in which requests wait. */
const TURN_BYTES = 32 * 1024

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
 * Publishes a round of waiting rows. A row is marked only after Kafka has acknowledged it, so after a failure the next run
 * sends the rest. A row that can never be sent is set aside with its reason. It delays no other row, not even of its key,
 * since each record has the whole state of its resource.
 */
export async function publishRows(
  session: LockSession,
  rows: readonly OutboxRow[],
  options: Publishing,
): Promise<void> {
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
    const [first] = batch
    if (!first) return
    try {
      await options.kafka.produce(batch.map(({ record }) => record))
    } catch (error) {
      if (!(error instanceof RecordsRefused)) throw error
      if (batch.length === 1) return setAside(first.row, error.message)
      const middle = batch.length >> 1
      await send(batch.slice(0, middle))
      return send(batch.slice(middle))
    }
    const sent = batch.map(({ row }) => row)
    await session.answered(markPublished(session.sql, sent))
    published.add(sent.length, { schema: options.schema })
  }
  const sendables = async (request: readonly OutboxRow[]) => {
    const made: Sendable[] = []
    let bytes = 0
    for (const row of request) {
      bytes += row.payload?.length ?? 0
      if (bytes > TURN_BYTES) {
        await turn()
        bytes = row.payload?.length ?? 0
      }
      try {
        made.push({ row, record: await recordOf(row, options) })
      } catch (error) {
        if (!(error instanceof Unserialisable)) throw error
        await setAside(row, error.message)
      }
    }
    return made
  }

  // One by one: small records do not wait until larger ones after them are serialised.
  for (const request of requestsOf(rows)) await send(await sendables(request))
  options.logger.info(
    { schema: options.schema, records: rows.length, duration_ms: Math.round(performance.now() - startedAt) },
    'outbox published',
  )
}

async function recordOf(row: OutboxRow, { serialize }: Publishing): Promise<OutgoingRecord> {
  const { topic, key, payload, traceparent } = row
  return {
    topic,
    key,
    value: payload === null ? null : await bytesOf(row, payload, serialize),
    headers: { traceparent },
  }
}

/** The payload goes into the record as it is stored: to write a large one anew takes milliseconds. */
function bytesOf(row: OutboxRow, payload: string, serialize: RecordSerializer): Promise<Buffer> {
  const members: Omit<EventRecord, 'data'> = {
    id: row.event_id,
    type: row.type,
    workspace_id: row.workspace_id,
    livemode: row.livemode,
    occurred_at: row.occurred_at.toISOString(),
  }
  const json = `${JSON.stringify(members).slice(0, -1)},"data":${payload}}`
  const value: EventRecord = { ...members, data: JSON.parse(payload) }
  return serialize(row.topic, value, json)
}

/** Splits a round, in its order, into requests of at most REQUEST_BYTES; a larger record goes alone. */
function requestsOf(rows: readonly OutboxRow[]): OutboxRow[][] {
  const requests: OutboxRow[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const row of rows) {
    const size = MEMBERS_BYTES + Buffer.byteLength(row.payload ?? '')
    if (bytes + size > REQUEST_BYTES) {
      requests.push([])
      bytes = 0
    }
    requests.at(-1)?.push(row)
    bytes += size
  }
  return requests
}
