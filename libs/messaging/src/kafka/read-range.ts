import { randomUUID } from 'node:crypto'
import { whileHeartbeating } from './heartbeat.ts'
import type { IncomingBatch, IncomingRecord, Kafka } from './kafka-connection.ts'

/** Offsets by partition, named `topic/partition`: `from` is the first to read, `until` the first not to read. */
export interface OffsetRange {
  readonly from: ReadonlyMap<string, number>
  readonly until: ReadonlyMap<string, number>
}

export interface RangeReading {
  readonly topics: readonly string[]
  readonly range: OffsetRange
  /** Called with the next records of a partition, in their order; not called again until it has resolved. */
  onRecords(records: readonly IncomingRecord[]): Promise<void>
  /** Asked after each call: whether no more of that partition is wanted. */
  isEnough?(partition: string): boolean
  /** The longest wait for more records, in milliseconds; half a minute unless given. */
  readonly idleTimeoutMs?: number
  /** Ends the reading after so long, in milliseconds; no limit unless given. */
  readonly withinMs?: number
}

/**
 * Reads every record of a range once, and keeps no more of them in memory than one fetch returns. Commits no offsets.
 * Throws the errors of `onRecords`, and one when no records come within `idleTimeoutMs`. Returns what is unread after
 * `withinMs`: the next offset of each such partition.
 */
export async function readRange(kafka: Kafka, reading: RangeReading): Promise<ReadonlyMap<string, number>> {
  const { topics, range, onRecords, isEnough, idleTimeoutMs = 30_000, withinMs } = reading
  const unread = new Map([...range.from].filter(([partition, offset]) => offset < endOf(range, partition)))
  if (unread.size === 0) return unread
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let isOver = false
  const rejectIdle = () => reject(new Error(`Kafka has sent nothing of ${[...unread.keys()]} for ${idleTimeoutMs} ms`))
  const startTimeout = () => setTimeout(rejectIdle, idleTimeoutMs)
  let timeout = startTimeout()

  const onBatch = async (batch: IncomingBatch) => {
    if (isOver) return
    clearTimeout(timeout)
    try {
      // A member that the group has removed joins again and goes on where it was.
      await whileHeartbeating(batch, () => handOver(batch))
      if (unread.size === 0) resolve()
      else timeout = startTimeout()
    } catch (error) {
      isOver = true
      reject(error)
    }
  }
  const handOver = async (batch: IncomingBatch) => {
    const { partition, records, next } = batch
    const from = unread.get(partition) ?? Number.POSITIVE_INFINITY
    const end = endOf(range, partition)
    const inRange = records.filter(({ offset }) => Number(offset) >= from && Number(offset) < end)
    if (inRange.length > 0) await onRecords(inRange)
    const last = records.at(-1)
    if (last) batch.markProcessed(last)
    if (next >= end || isEnough?.(partition)) unread.delete(partition)
    else if (unread.has(partition)) unread.set(partition, Math.max(from, next))
  }
  const member = kafka.consume({
    group: `read-${randomUUID()}`,
    topics,
    concurrency: 1,
    from: (partition) => unread.get(partition) ?? endOf(range, partition),
    onBatch,
  })
  const late = withinMs === undefined ? undefined : setTimeout(resolve, withinMs)
  await promise.finally(async () => {
    isOver = true
    clearTimeout(timeout)
    clearTimeout(late)
    await member.stop()
  })
  return unread
}

const endOf = ({ until }: OffsetRange, partition: string): number => until.get(partition) ?? 0
