import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '@backoffice/postgres/database.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import type { ProcessContext } from '@backoffice/runtime/process.ts'
import { whileHeartbeating } from '../kafka/heartbeat.ts'
import type { GroupMember, IncomingBatch, IncomingRecord, Kafka } from '../kafka/kafka-connection.ts'
import { measureBatch, startMeasuring } from './consumer-metrics.ts'
import { halvedBatches } from './halved-batches.ts'
import { processRecords } from './process-records.ts'
import { inProcessSpan } from './process-span.ts'
import type { RecordProcessing } from './record-processing.ts'
import { Interrupted } from './retry.ts'
import { watchForStall } from './watchdog.ts'

/** A consumer's topics and handler. `name` is its group: `<service>.<what it does>`. */
export interface ConsumerDefinition<Value>
  extends Pick<RecordProcessing<Value>, 'name' | 'schema' | 'handle' | 'postpone' | 'isEachIndependent'> {
  readonly topics: readonly string[]
  /**
   * The most records in one transaction; 500 unless given. A function is called before each transaction with the number
   * of records at hand. It may delay its answer to slow the consumer down.
   */
  readonly batchSize?: number | ((atHand: number) => Promise<number>)
  /**
   * The pause after a batch of 20 to 199 records, in milliseconds; 0 unless given. Such a batch is often part of something
   * large, such as an import. More records arrive during the pause, so they need fewer transactions.
   */
  readonly gatherMs?: number
}

/** A consumer that runs, with the topics it reads. */
export interface Consumer extends Component {
  readonly topics: readonly string[]
  start(): Promise<void>
  stop(): Promise<void>
}

export interface ConsumerContext extends ProcessContext {
  readonly kafka: Kafka
  /**
   * Connects as the worker role, since a batch has records of all workspaces; as the app role for a consumer with an
   * inbox, which handles each record in its workspace.
   */
  readonly db: Database
  /** Ends the process after so long without progress while records wait, in milliseconds; a minute unless given. */
  readonly stalledAfterMs?: number
}

/** Partitions handled side by side, each on a connection of the pool. */
const CONCURRENCY = 3
const BATCH_SIZE = 500
/** How long one partition is processed before others have their turn, in milliseconds. Its other records are fetched again. */
const TURN_MS = 500
/** `gatherMs` follows a batch of at least GATHER_FROM records. From GATHER_BELOW records on, transactions are full without a pause. */
const [GATHER_FROM, GATHER_BELOW] = [20, 200]

/**
 * Runs a consumer: retries, dead letters, lag and the watchdog around one handler. Every record is handled at least
 * once, and the records of a key in their order.
 */
export function consumer<Value>(definition: ConsumerDefinition<Value>, context: ConsumerContext): Consumer {
  const { name, topics, batchSize = BATCH_SIZE, gatherMs = 0 } = definition
  const { kafka, db, logger, stalledAfterMs = 60_000 } = context
  let member: GroupMember | undefined
  let stopWatching: (() => void) | undefined
  let retries = 0
  const processed = new Map<string, number>()
  const halved = halvedBatches()

  const processBatch = async (batch: IncomingBatch, lost: AbortSignal) => {
    const processing = {
      ...definition,
      sql: db.sql,
      // Short enough that a consumer that waits for the database does not count as stalled.
      beginWithinMs: stalledAfterMs / 4,
      kafka,
      logger,
      throwIfInterrupted() {
        if (lost.aborted || !batch.isRunning()) throw new Interrupted('this member has lost the batch or stops')
      },
      onRetry: () => retries++,
      halvedBatches: halved,
      onProcessed(last: IncomingRecord) {
        batch.markProcessed(last)
        halved.processed(last)
        const partition = `${last.topic}/${last.partition}`
        processed.set(partition, (processed.get(partition) ?? 0) + 1)
        // kafkajs commits at the end of the batch.
        if (last !== batch.records.at(-1)) batch.commit()
      },
      rest: batch.rest,
    }
    const turnEndsAt = performance.now() + TURN_MS
    for (let from = 0; from < batch.records.length && performance.now() < turnEndsAt; ) {
      const atHand = batch.records.length - from
      const size = typeof batchSize === 'number' ? batchSize : await batchSize(atHand)
      const records = halved.next(batch.records.slice(from, from + size))
      const [first, last] = [records[0], records.at(-1)]
      if (!first || !last) return
      from += records.length
      const startedAt = performance.now()
      const { dead, ids } = await inProcessSpan(name, records, () => processRecords(processing, records))
      measureBatch(name, records, startedAt)
      logger.info(
        {
          consumer: name,
          topic: last.topic,
          partition: last.partition,
          first_offset: first.offset,
          records: records.length,
          dead_letters: dead,
          duration_ms: Math.round(performance.now() - startedAt),
          ...ids,
        },
        'consumed',
      )
    }
    if (batch.records.length >= GATHER_FROM && batch.records.length < GATHER_BELOW) await pause(gatherMs)
  }
  const onBatch = (batch: IncomingBatch) =>
    whileHeartbeating(batch, async (lost) => {
      await processBatch(batch, lost).catch((error: unknown) => {
        if (!(error instanceof Interrupted)) throw error
      })
      lost.throwIfAborted()
    })

  return {
    name,
    topics,
    async start() {
      startMeasuring(name)
      member = kafka.consume({ group: name, topics, concurrency: CONCURRENCY, onBatch })
      stopWatching = watchForStall({
        ...context,
        name,
        topics,
        member,
        stalledAfterMs,
        retries: () => retries,
        processed: (partition) => processed.get(partition) ?? 0,
      })
    },
    async stop() {
      stopWatching?.()
      await member?.stop()
    },
  }
}
