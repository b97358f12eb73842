import { isPlaceholder } from '@backoffice/messaging/consumers/dead-letters.ts'
import { END, type IncomingRecord, type Kafka } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { type OffsetRange, readRange } from '@backoffice/messaging/kafka/read-range.ts'

/** The limits of one reading, in milliseconds: a request waits for it. A group takes up to three seconds to begin. */
export const READING = { withinMs: 10_000, idleTimeoutMs: 8_000 } as const

/** Offsets of a partition: from the first one on, until before the last one. */
export interface Span {
  readonly partition: number
  readonly from: number
  readonly until: number
}

/** The range that has these spans of a topic, as far as the topic has records there. */
export async function rangeOf(kafka: Kafka, topic: string, spans: readonly Span[]): Promise<OffsetRange> {
  const [first, end] = [await kafka.offsetsAt([topic], new Date(0)), await kafka.offsetsAt([topic], END)]
  const [from, until] = [new Map(end), new Map(end)]
  for (const [name, own] of Map.groupBy(spans, ({ partition }) => `${topic}/${partition}`)) {
    const last = end.get(name)
    if (last === undefined) continue
    from.set(name, Math.max(first.get(name) ?? 0, Math.min(...own.map((span) => span.from))))
    until.set(name, Math.min(last, Math.max(...own.map((span) => span.until))))
  }
  return { from, until }
}

/** The longest time of reading one record, in milliseconds. A request may read two. */
const RECORD_WITHIN_MS = 6_000

/** Reads one record: undefined when it is not there, `late` when Kafka has not sent it within `withinMs` or 6 s. */
export async function readRecord(
  kafka: Kafka,
  topic: string,
  partition: number,
  offset: number,
  withinMs = RECORD_WITHIN_MS,
): Promise<IncomingRecord | 'late' | undefined> {
  let found: IncomingRecord | undefined
  const unread = await readRange(kafka, {
    withinMs: Math.min(withinMs, RECORD_WITHIN_MS),
    topics: [topic],
    range: await rangeOf(kafka, topic, [{ partition, from: offset, until: offset + 1 }]),
    onRecords: async ([record]) => {
      found = record
    },
  })
  return found ?? (unread.size > 0 ? 'late' : undefined)
}

/** A dead letter with what a placeholder lacks, from its record's own topic. Answers as `readRecord`. */
export async function wholeLetter(
  kafka: Kafka,
  letter: IncomingRecord,
  withinMs?: number,
): Promise<IncomingRecord | 'late' | undefined> {
  if (!isPlaceholder(letter)) return letter
  const { headers } = letter
  const [topic, partition, offset] = ['topic', 'partition', 'offset'].map((name) =>
    String(headers[`dead-letter-${name}`]),
  )
  const original = await readRecord(kafka, topic ?? '', Number(partition), Number(offset), withinMs)
  if (original === undefined || original === 'late') return original
  return { ...letter, key: original.key, value: original.value, headers: { ...original.headers, ...headers } }
}
