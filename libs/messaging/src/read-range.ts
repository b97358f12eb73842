import { randomUUID } from 'node:crypto'
import type { IncomingBatch, IncomingRecord, Kafka } from './kafka-connection.ts'

/** A part of each partition, named `topic/partition`: from one offset on, up to but not including another. */
export interface OffsetRange {
  readonly from: ReadonlyMap<string, number>
  readonly until: ReadonlyMap<string, number>
}

export interface RangeReading {
  readonly topics: readonly string[]
  readonly range: OffsetRange
  /** Gets the records of a partition in their order, some at a time; nothing more is handed over until it has resolved. */
  onRecords(records: readonly IncomingRecord[]): Promise<void>
  /** Kafka may be silent for so long, in milliseconds; half a minute unless given. */
  readonly patienceMs?: number
}

const BEAT_EVERY_MS = 1500

/**
 * Reads every record of a range once, and holds no more of them than one fetch brings. No group is moved by it. Throws what
 * `onRecords` throws, and an error when Kafka is away or silent for too long.
 */
export async function readRange(kafka: Kafka, reading: RangeReading): Promise<void> {
  const { topics, range, onRecords, patienceMs = 30_000 } = reading
  const left = new Map([...range.from].filter(([partition, offset]) => offset < endOf(range, partition)))
  if (left.size === 0) return
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let isOver = false
  const silence = () =>
    setTimeout(
      () => reject(new Error(`Kafka has sent nothing of ${[...left.keys()]} for ${patienceMs} ms`)),
      patienceMs,
    )
  let waiting = silence()

  const onBatch = async (batch: IncomingBatch) => {
    if (isOver) return
    clearTimeout(waiting)
    try {
      await whileBeating(batch, () => handOver(batch))
      if (left.size === 0) resolve()
      else waiting = silence()
    } catch (error) {
      isOver = true
      reject(error)
    }
  }
  const handOver = async (batch: IncomingBatch) => {
    const [first, last] = [batch.records[0], batch.records.at(-1)]
    if (!first || !last) return
    const partition = `${first.topic}/${first.partition}`
    const next = left.get(partition) ?? Number.POSITIVE_INFINITY
    const end = endOf(range, partition)
    const own = batch.records.filter(({ offset }) => Number(offset) >= next && Number(offset) < end)
    if (own.length > 0) await onRecords(own)
    batch.settle(last)
    if (Number(last.offset) + 1 >= end) left.delete(partition)
    else left.set(partition, Math.max(next, Number(last.offset) + 1))
  }
  const member = kafka.consume({
    group: `read-${randomUUID()}`,
    topics,
    concurrency: 1,
    from: (partition) => left.get(partition) ?? endOf(range, partition),
    onBatch,
  })
  await promise.finally(async () => {
    isOver = true
    clearTimeout(waiting)
    await member.stop()
  })
}

const endOf = ({ until }: OffsetRange, partition: string): number => until.get(partition) ?? 0

/** Keeps the member in its group. Should it be put out all the same, it joins anew and goes on where it was. */
async function whileBeating(batch: IncomingBatch, work: () => Promise<void>): Promise<void> {
  const beats = setInterval(() => void batch.beat().catch(() => undefined), BEAT_EVERY_MS)
  try {
    await work()
  } finally {
    clearInterval(beats)
  }
}
