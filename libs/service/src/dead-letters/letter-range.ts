import type { Kafka } from '@backoffice/messaging/kafka/kafka-connection.ts'
import type { OffsetRange } from '@backoffice/messaging/kafka/read-range.ts'

/** The limits of one reading, in milliseconds: a request waits for it. A group takes up to three seconds to begin. */
export const READING = { withinMs: 10_000, idleTimeoutMs: 8_000 } as const

/** After every record. */
export const END = new Date('9999-12-31')

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
