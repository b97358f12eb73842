import { EVENT_TOPICS } from '@backoffice/contracts/events.ts'
import { deadLetterTopic } from '@backoffice/messaging/dead-letters.ts'
import { receivedOf } from '@backoffice/messaging/handling.ts'
import type { IncomingRecord, Kafka } from '@backoffice/messaging/kafka-connection.ts'
import { readRange } from '@backoffice/messaging/read-range.ts'
import { FAN_OUT, readEventSchema } from '../events/event-schema.ts'
import type { ReadEvent } from '../events/matching.ts'
import type { JudgedEvent } from './expected-deliveries.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** Which events are read: those that occurred from `since` on and before `until`. */
export interface EventRange {
  readonly since: Date
  readonly until: Date
  /** How much later than they occurred events may have been published, or earlier, by clocks that differ. */
  readonly marginMs: number
  /** Of this workspace only. */
  readonly workspaceId?: string | undefined
}

/** A record as far as it is judged: an event of the range, or one that the fan-out has given up or will. */
export type JudgedRecord = JudgedEvent | 'dead letter'

/**
 * Reads the events of a range from Kafka itself, a fetch at a time. What the fan-out has consumed and given up is known before
 * the first of them is handed over, so that whatever has no delivery by then has no excuse.
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
  const judged = (record: IncomingRecord) => judgedRecord(record, eventOf(record), range, { consumed, dead })
  await readRange(kafka, {
    topics: EVENT_TOPICS,
    range: {
      from: await kafka.offsetsAt(EVENT_TOPICS, from),
      until: await kafka.offsetsAt(EVENT_TOPICS, new Date(range.until.getTime() + range.marginMs)),
    },
    onRecords: (records) =>
      onRecords(
        records.flatMap((record) => judged(record) ?? []),
        records.length,
      ),
  })
}

interface Progress {
  /** The offset that the fan-out reads next, by partition. */
  readonly consumed: ReadonlyMap<string, number>
  /** Where the dead letters came from. */
  readonly dead: ReadonlySet<string>
}

/** Undefined for a record that is not of the range. */
function judgedRecord(
  record: IncomingRecord,
  event: ReadEvent | undefined,
  range: EventRange,
  { consumed, dead }: Progress,
): JudgedRecord | undefined {
  const at = event === undefined ? record.producedAt : new Date(event.occurred_at)
  if (at < range.since || at >= range.until) return undefined
  const { workspaceId = event?.workspace_id } = range
  if (event?.workspace_id !== workspaceId) return undefined
  if (event === undefined || dead.has(placeOf(record))) return 'dead letter'
  const partition = `${record.topic}/${record.partition}`
  const isConsumed = Number(record.offset) < (consumed.get(partition) ?? 0)
  return { event: { ...event, data: null }, producedAt: record.producedAt, isConsumed }
}

/** Reads events as the fan-out does, at about the time of each; undefined is what it cannot read. */
function eventReader(): (record: IncomingRecord) => ReadEvent | undefined {
  let now = new Date()
  const schema = readEventSchema(() => now)
  return (record) => {
    now = record.producedAt
    try {
      return receivedOf(record, schema).value
    } catch {
      return undefined
    }
  }
}

/** Where the records came from that were given up since then: some 100 bytes each are kept. */
async function readDeadLetters(kafka: Kafka, since: Date): Promise<Set<string>> {
  const topics = [deadLetterTopic(FAN_OUT)]
  const places = new Set<string>()
  await readRange(kafka, {
    topics,
    range: {
      from: await kafka.offsetsAt(topics, since),
      until: await kafka.offsetsAt(topics, new Date(Date.now() + DAY_MS)),
    },
    async onRecords(letters) {
      for (const { headers } of letters) {
        const [topic, partition, offset] = ['topic', 'partition', 'offset'].map(
          (name) => headers[`dead-letter-${name}`],
        )
        places.add(`${topic}/${partition}/${offset}`)
      }
    },
  })
  return places
}

const placeOf = ({ topic, partition, offset }: IncomingRecord): string => `${topic}/${partition}/${offset}`
