import { setTimeout as pause } from 'node:timers/promises'
import { EVENT_TOPICS } from '@backoffice/contracts/events.ts'
import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import { parseRecord } from '@backoffice/messaging/consumers/received-records.ts'
import { END, type IncomingRecord, type Kafka } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { readRange } from '@backoffice/messaging/kafka/read-range.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import { FAN_OUT } from '../events/fan-out.ts'
import type { ReadEvent } from '../events/matching.ts'
import { readEventSchema } from '../events/platform-event.ts'
import type { JudgedEvent } from './expected-deliveries.ts'

/** The events that occurred from `since` on and before `until`. */
export interface EventRange {
  readonly since: Date
  readonly until: Date
  /** Most milliseconds between occurrence and publication of an event, either way, because clocks differ. */
  readonly marginMs: number
  /** Only the events of this workspace; of all unless given. */
  readonly workspaceId?: string | undefined
}

/** A record of the range: an event, or a dead letter of the fan-out, present or future. */
export type JudgedRecord = JudgedEvent | 'dead letter'

/**
 * Reads the events of a range from Kafka, a fetch at a time. Reads the fan-out's positions and dead letters before the
 * first event, so that a consumed event that is no dead letter must have its deliveries by the time it is checked.
 */
export async function readEvents(
  kafka: Kafka,
  range: EventRange,
  onRecords: (records: readonly JudgedRecord[], read: number) => Promise<void>,
): Promise<void> {
  const positions = await kafka.positions(FAN_OUT, EVENT_TOPICS)
  const consumed = new Map(positions.map(({ partition, offset }) => [partition, offset]))
  const from = new Date(range.since.getTime() - range.marginMs)
  const dead = await readDeadLetters(kafka, from)
  const eventOf = eventReader()
  const judged = (record: IncomingRecord): JudgedRecord | [] => {
    const event = eventOf(record)
    const at = new Date(Math.min(record.producedAt.getTime(), Date.parse(event?.occurred_at ?? '') || Infinity))
    if (at < range.since || at >= range.until) return []
    if (event?.workspace_id !== (range.workspaceId ?? event?.workspace_id)) return []
    const partition = `${record.topic}/${record.partition}`
    if (event === undefined || dead.has(`${partition}/${record.offset}`)) return 'dead letter'
    const isConsumed = Number(record.offset) < (consumed.get(partition) ?? 0)
    return { event: { ...event, data: null }, producedAt: record.producedAt, isConsumed }
  }
  await readRange(kafka, {
    topics: EVENT_TOPICS,
    range: {
      from: await kafka.offsetsAt(EVENT_TOPICS, from),
      until: await kafka.offsetsAt(EVENT_TOPICS, new Date(range.until.getTime() + range.marginMs)),
    },
    async onRecords(records) {
      const startedAt = performance.now()
      await onRecords(records.flatMap(judged), records.length)
      // Deliveries come first: this takes half of the time at most.
      await pause(performance.now() - startedAt)
    },
  })
}

/** Reads events as the fan-out does, with the time of production as the clock; undefined if unreadable. */
function eventReader(): (record: IncomingRecord) => ReadEvent | undefined {
  let now = currentTime()
  const schema = readEventSchema(() => now)
  return (record) => {
    now = record.producedAt
    try {
      return parseRecord(record, schema).value
    } catch {
      return undefined
    }
  }
}

/** The origins of dead letters since a time, as `topic/partition/offset`; keeps about 100 bytes for each. */
async function readDeadLetters(kafka: Kafka, since: Date): Promise<Set<string>> {
  const topics = [deadLetterTopic(FAN_OUT)]
  const origins = new Set<string>()
  await readRange(kafka, {
    topics,
    range: {
      from: await kafka.offsetsAt(topics, since),
      until: await kafka.offsetsAt(topics, END),
    },
    async onRecords(letters) {
      for (const { headers } of letters) {
        origins.add(['topic', 'partition', 'offset'].map((name) => headers[`dead-letter-${name}`]).join('/'))
      }
    },
  })
  return origins
}
