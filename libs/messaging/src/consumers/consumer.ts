import { setTimeout as pause } from 'node:timers/promises'
import { whileHeartbeating } from '../kafka/heartbeat.ts'
import type { GroupMember, IncomingBatch, IncomingRecord } from '../kafka/kafka-connection.ts'
import type { Consumer, ConsumerContext, ConsumerDefinition } from './consumer-definition.ts'
import { countDeadLetters, measureBatch } from './consumer-metrics.ts'
import { BUG_PATIENCE_MS, Interrupted } from './error-causes.ts'
import { HalvedBatches } from './halved-batches.ts'
import { Patience } from './patience.ts'
import { inProcessSpan } from './process-span.ts'
import { RecordProcessor } from './record-processor.ts'
import { Progress, watchForStall } from './watchdog.ts'

/** Partitions handled side by side, each on a connection of the pool. */
const CONCURRENCY = 3
const BATCH_SIZE = 500
/** How long one partition is processed before others are, in milliseconds. Its other records are fetched again. */
const TIME_SLICE_MS = 500
/** `gatherMs` follows a batch of at least GATHER_FROM records. From GATHER_BELOW on, transactions are full anyway. */
const [GATHER_FROM, GATHER_BELOW] = [20, 200]

/**
 * Runs a consumer: retries, dead letters, lag and the watchdog around one handler. Every record is handled at least
 * once, and the records of a key in their order.
 */
export const consumer = <Value>(definition: ConsumerDefinition<Value>, context: ConsumerContext): Consumer =>
  new RunningConsumer(definition, {
    stalledAfterMs: 60_000,
    patienceMs: BUG_PATIENCE_MS,
    onProcessed: () => undefined,
    ...context,
  })

class RunningConsumer<Value> implements Consumer {
  readonly name: string
  readonly topics: readonly string[]
  readonly #definition: ConsumerDefinition<Value>
  readonly #context: Required<ConsumerContext>
  readonly #halvedBatches = new HalvedBatches()
  readonly #patience: Patience
  readonly #progress = new Progress()
  #member: GroupMember | undefined
  /** When the last batch ended (`performance.now()`). */
  #endedAt = Number.NEGATIVE_INFINITY
  #stopWatching: (() => void) | undefined

  constructor(definition: ConsumerDefinition<Value>, context: Required<ConsumerContext>) {
    this.name = definition.name
    this.topics = definition.topics
    this.#definition = definition
    this.#context = context
    const { patienceMs, stalledAfterMs } = context
    // One that waits longer between its tries would count as stalled.
    this.#patience = new Patience({ bugMs: patienceMs, longestWaitMs: Math.min(5000, stalledAfterMs / 4) })
  }

  async start(): Promise<void> {
    const { name, topics } = this
    // Prometheus sees no increase in a counter that first appears with 1.
    countDeadLetters(name, 0)
    const onBatch = (batch: IncomingBatch) => this.#processBatch(batch)
    const onAssigned = (partitions: ReadonlySet<string>) => {
      this.#halvedBatches.keepOnly(partitions)
      this.#patience.keepOnly(partitions)
    }
    const options = { group: name, topics, concurrency: CONCURRENCY, onBatch, onAssigned }
    const member = this.#context.kafka.consume(options)
    this.#member = member
    this.#stopWatching = watchForStall({
      ...this.#context,
      name,
      topics,
      member,
      progress: this.#progress,
      patience: this.#patience,
    })
  }

  async stop(): Promise<void> {
    this.#stopWatching?.()
    await this.#member?.stop()
  }

  #processBatch(batch: IncomingBatch): Promise<void> {
    const work = async (lost: AbortSignal) => {
      await this.#processInTransactions(batch, lost).catch((error: unknown) => {
        if (!(error instanceof Interrupted)) throw error
      })
      lost.throwIfAborted()
    }
    return this.#progress.during(batch.partition, () => whileHeartbeating(batch, work))
  }

  async #processInTransactions(batch: IncomingBatch, lost: AbortSignal): Promise<void> {
    const { batchSize = BATCH_SIZE } = this.#definition
    const startedAt = performance.now()
    const [halvedBatches, patience, progress] = [this.#halvedBatches, this.#patience, this.#progress]
    const processing = { batch, lost, halvedBatches, patience, progress }
    const processor = new RecordProcessor(this.#definition, this.#context, processing)
    const endsAt = startedAt + TIME_SLICE_MS
    for (let from = 0; from < batch.records.length && performance.now() < endsAt; ) {
      const atHand = batch.records.length - from
      const size = typeof batchSize === 'number' ? batchSize : await batchSize(atHand)
      const records = halvedBatches.next(batch.records.slice(from, from + size))
      if (records.length === 0) return
      from += records.length
      await this.#processRecords(processor, records)
    }
    await this.#gather(batch.records.length, startedAt)
    this.#endedAt = performance.now()
  }

  /** Lets more records arrive. None of them waits when there was no batch shortly before. */
  async #gather(records: number, startedAt: number): Promise<void> {
    const { gatherMs = 0, streamMs } = this.#definition
    if (records >= GATHER_BELOW) return
    const least = streamMs?.() ?? 0
    if (records >= GATHER_FROM) await pause(gatherMs)
    else if (startedAt - this.#endedAt < least) await pause(least)
  }

  async #processRecords(processor: RecordProcessor<Value>, records: readonly IncomingRecord[]): Promise<void> {
    const startedAt = performance.now()
    const { dead, ids } = await inProcessSpan(this.name, records, () => processor.processRecords(records))
    this.#context.onProcessed()
    measureBatch(this.name, records, startedAt)
    const [{ topic, partition, offset: first_offset } = {}] = records
    const duration_ms = Math.round(performance.now() - startedAt)
    const consumed = { topic, partition, first_offset, records: records.length, dead_letters: dead, duration_ms }
    this.#context.logger.info({ consumer: this.name, ...consumed, ...ids }, 'consumed')
  }
}
