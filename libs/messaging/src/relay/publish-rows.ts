import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { EventRecord } from '@backoffice/contracts/events.ts'
import type { LockSession } from '@backoffice/postgres/lock-session.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { counter, durations } from '@backoffice/runtime/metrics.ts'
import { partsOf } from '@backoffice/runtime/parts-of.ts'
import { noteError, type Span } from '@backoffice/runtime/spans.ts'
import { traceparentOf } from '@backoffice/runtime/trace-context.ts'
import { type Kafka, type OutgoingRecord, RecordsRefused, TopicUnavailable } from '../kafka/kafka-connection.ts'
import { type RecordSerializer, Unserialisable } from '../registry/schema-registry.ts'
import { confirmLead } from './leadership.ts'
import type { OutboxRow } from './outbox-rows.ts'
import { publishSpan } from './publish-span.ts'
import { type HeldRow, holdRows, refuseRow } from './refused-rows.ts'
import type { UnmarkedRows } from './unmarked-rows.ts'

/** The most bytes of a request with several records. Encoding them blocks the event loop for some milliseconds. */
const REQUEST_BYTES = 256 * 1024
/** About the size of a record without its payload: its other members and its headers. */
const MEMBERS_BYTES = 300
/** Bytes serialised before other work of the process may run: a millisecond or two. */
const YIELD_AFTER_BYTES = 32 * 1024

const published = counter('outbox_published_records', 'Outbox rows acknowledged by Kafka')
const refused = counter('outbox_refused_records', 'Outbox rows set aside until an operator sends them again')
const topicFailures = counter(
  'outbox_topic_failures',
  'Requests that Kafka did not take since the topic is missing, or closed to this user',
)
const schemaFailures = counter('outbox_schema_failures', 'Rows whose schema the registry did not tell')
const delay = durations(
  'outbox_publish_delay_seconds',
  'From the time of an event to its acknowledgement by Kafka: the oldest row of each request',
)

/** The destination of a schema's outbox. */
export interface Publishing {
  readonly schema: string
  readonly kafka: Kafka
  readonly serialize: RecordSerializer
  readonly logger: Logger
}

/** What a leader publishes with. */
export interface LeaderPublishing extends Publishing {
  readonly unmarked: UnmarkedRows
  /** How long the registry has answered this leader before a row is refused for its schema, in milliseconds. */
  readonly refuseAfterMs: number
  /** When the leader began or the registry last failed to answer (`performance.now()`). */
  answersSince: number
}

interface Sendable {
  readonly row: OutboxRow
  readonly record: OutgoingRecord
  readonly span: Span | undefined
}

/** What a round has found out. */
interface Found {
  /** The keys of rows that could not be sent. */
  readonly behind: Set<string>
  /** The topics that Kafka does not take, with the reason. */
  readonly closed: Map<string, string>
}

/**
 * Publishes a round of waiting rows. A row is marked only after Kafka has acknowledged it, so after a failure the next
 * run sends the rest. When marks fail, sends nothing more. A row that does not fit the registry's schema is held, and
 * so are the later rows of its key: during a deploy a newer replica may write it before its schema is registered. The
 * rows of a topic that is missing are held until it is there, and those whose schema cannot be read until the registry
 * answers. A row that Kafka will never accept is refused. Held and refused rows delay no rows of other keys.
 */
export async function publishRows(
  session: LockSession,
  rows: readonly OutboxRow[],
  options: LeaderPublishing,
): Promise<void> {
  const startedAt = performance.now()
  const found: Found = { behind: new Set(), closed: new Map() }
  // One by one: small records do not wait until larger ones after them are serialised.
  for (const request of partsOf(rows, REQUEST_BYTES, sizeOf)) {
    const { sendables, held } = await serialiseRows(request, found, options)
    await send(session, sendables, found, options)
    await hold(session, held, options)
  }
  options.logger.info(
    { schema: options.schema, records: rows.length, duration_ms: Math.round(performance.now() - startedAt) },
    'outbox published',
  )
}

/** Serialises the rows of a request. Holds those without a schema, those behind others, and those of closed topics. */
async function serialiseRows(request: readonly OutboxRow[], { behind, closed }: Found, options: LeaderPublishing) {
  const [sendables, held]: [Sendable[], HeldRow[]] = [[], []]
  let bytes = 0
  for (const row of request) {
    bytes += row.payload?.length ?? 0
    if (bytes > YIELD_AFTER_BYTES) {
      await yieldToEventLoop()
      bytes = row.payload?.length ?? 0
    }
    if (row.is_behind || behind.has(keyOf(row))) {
      held.push({ row })
      continue
    }
    const reason = closed.get(row.topic)
    if (reason !== undefined) {
      held.push({ row, reason, waitsFor: 'TOPIC' })
      continue
    }
    try {
      sendables.push(await sendableOf(row, options))
    } catch (error) {
      behind.add(keyOf(row))
      const reason = error instanceof Error ? error.message : String(error)
      if (error instanceof Unserialisable) {
        held.push({ row, reason, waitsFor: 'SCHEMA' })
        continue
      }
      schemaFailures.add(1, { schema: options.schema, topic: row.topic })
      options.answersSince = performance.now()
      held.push({ row, reason })
    }
  }
  return { sendables, held }
}

/** Sends a request and marks its rows. Splits one that is refused, until what is refused is alone. */
async function send(
  session: LockSession,
  batch: readonly Sendable[],
  found: Found,
  options: LeaderPublishing,
): Promise<void> {
  const [first] = batch
  if (!first) return
  const { schema, kafka, unmarked } = options
  try {
    await kafka.produce(
      batch.map(({ record }) => record),
      () => confirmLead(session),
    )
  } catch (error) {
    const parts = partsAfter(error, batch)
    if (parts.length > 1) {
      for (const part of parts) await send(session, part, found, options)
      return
    }
    endSpans(batch, error)
    if (error instanceof RecordsRefused) return refuse(session, first.row, error.message, options)
    if (error instanceof TopicUnavailable)
      return closeTopic(session, batch, notSent(batch, error).message, found, options)
    throw notSent(batch, error)
  }
  endSpans(batch)
  const sent = batch.map(({ row }) => row)
  published.add(sent.length, { schema })
  const oldest = Math.min(...sent.map(({ occurred_at }) => occurred_at.getTime()))
  delay.record(Math.max(0, currentTime().getTime() - oldest) / 1000, { schema })
  unmarked.add(sent)
  await unmarked.mark(session)
}

/** What to send instead of a request that failed; the whole request when it cannot be split. */
function partsAfter(error: unknown, batch: readonly Sendable[]): readonly (readonly Sendable[])[] {
  if (error instanceof TopicUnavailable) return [...Map.groupBy(batch, ({ row }) => row.topic).values()]
  if (!(error instanceof RecordsRefused) || batch.length === 1) return [batch]
  const middle = batch.length >> 1
  return [batch.slice(0, middle), batch.slice(middle)]
}

/** Names the topics: Kafka does not say which of them is missing, or closed to this user. */
function notSent(batch: readonly Sendable[], cause: unknown): Error {
  const topics = [...new Set(batch.map(({ row }) => row.topic))].join(', ')
  return new Error(`${topics}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
}

const sizeOf = ({ payload }: OutboxRow) => MEMBERS_BYTES + Buffer.byteLength(payload ?? '')
const keyOf = ({ topic, key }: OutboxRow) => `${topic} ${key}`

async function refuse(session: LockSession, row: OutboxRow, reason: string, options: Publishing): Promise<void> {
  const { schema, logger } = options
  const { topic, type, event_id: event } = row
  logger.error({ schema, event, topic, type, reason }, 'outbox row refused')
  await session.answered(refuseRow(session.sql, row, reason))
  refused.add(1, { schema, topic })
}

/** Holds rows of a topic that Kafka does not take. The round sends no more of them. */
async function closeTopic(
  session: LockSession,
  batch: readonly Sendable[],
  reason: string,
  { closed }: Found,
  { schema, logger }: Publishing,
): Promise<void> {
  const topic = batch[0]?.row.topic ?? ''
  closed.set(topic, reason)
  topicFailures.add(1, { schema, topic })
  logger.error({ schema, topic, rows: batch.length, reason }, 'outbox rows wait for their topic')
  await session.answered(
    holdRows(
      session.sql,
      batch.map(({ row }) => ({ row, reason, waitsFor: 'TOPIC' })),
      false,
    ),
  )
}

/**
 * Holds rows. Refuses none for its schema before the registry has answered for an hour: a deploy may wait for it. Logs
 * the first one that has a reason, since all rows of a type may have the same.
 */
async function hold(session: LockSession, rows: readonly HeldRow[], options: LeaderPublishing): Promise<void> {
  if (rows.length === 0) return
  const { schema, logger, answersSince, refuseAfterMs } = options
  const mayRefuse = performance.now() - answersSince >= refuseAfterMs
  const counts = await session.answered(holdRows(session.sql, rows, mayRefuse))
  const first = rows.find(({ reason }) => reason !== undefined)
  const { topic, type, event_id: event } = first?.row ?? {}
  const details = { schema, ...counts, event, topic, type, reason: first?.reason }
  if (counts.refused === 0) return logger.warn(details, 'outbox rows wait for their schema or topic')
  logger.error(details, 'outbox rows refused')
  refused.add(counts.refused, { schema, topic })
}

/** The record continues the trace of the change. */
async function sendableOf(row: OutboxRow, { serialize }: Publishing): Promise<Sendable> {
  const { topic, key, payload } = row
  const value = payload === null ? null : await bytesOf(row, payload, serialize)
  const span = publishSpan(row)
  const traceparent = span ? traceparentOf(span.spanContext()) : row.traceparent
  return { row, record: { topic, key, value, headers: { traceparent } }, span }
}

function endSpans(batch: readonly Sendable[], error?: unknown): void {
  for (const { span } of batch) {
    if (error !== undefined) noteError(span, error)
    span?.end()
  }
}

/** Copies the payload's stored JSON text into the record: serialising a large one again takes milliseconds. */
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
