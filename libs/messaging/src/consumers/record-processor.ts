import { setTimeout as pause } from 'node:timers/promises'
import { isLockTimeout, isStatementTimeout } from '@backoffice/postgres/postgres-errors.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { counter } from '@backoffice/runtime/metrics.ts'
import type { TransactionSql } from 'postgres'
import type { IncomingBatch, IncomingRecord } from '../kafka/kafka-connection.ts'
import { AGAIN, type ConsumerContext, type ConsumerDefinition, type Handle } from './consumer-definition.ts'
import { countDeadLetters } from './consumer-metrics.ts'
import { isParkable, parkedKeys, parkKey, reasonOf, sendDeadLetters } from './dead-letters.ts'
import { causeOf, Interrupted } from './error-causes.ts'
import type { HalvedBatches } from './halved-batches.ts'
import type { Patience } from './patience.ts'
import { parseRecord, partitionOf, type ReceivedRecord } from './received-records.ts'
import type { Progress } from './watchdog.ts'

/** Waits before a failed batch is retried as a whole, in milliseconds; after the last retry the batch is split. */
const RETRY_AFTER_MS = [50, 250]
/** After a statement timeout the partition pauses for as long as the batch took, for others; at most this. */
const LONGEST_COOLDOWN_MS = 30_000
/** The longest wait of a transaction for a lock, unless its handler sets another. Other partitions wait meanwhile. */
const LOCK_TIMEOUT = '1s'
/** Records that wait for a lock for less are not logged. */
const LOG_LOCKS_AFTER_SECONDS = 5
/** The longest statement for several records; the batch can be halved. A single record has the role's limit. */
const STATEMENT_TIMEOUT_OF_SEVERAL = '10s'

const statementTimeouts = counter(
  'consumer_statement_timeouts',
  'Transactions that were ended because a statement took too long',
)

/** A fetched batch whose records are processed, and what the consumer remembers from batch to batch. */
interface Processing {
  readonly batch: IncomingBatch
  /** Aborted when this member has lost the partition. */
  readonly lost: AbortSignal
  readonly halvedBatches: HalvedBatches
  readonly patience: Patience
  readonly progress: Progress
}

/** A record with its validated value. */
interface ParsedRecord<Value> {
  readonly record: IncomingRecord
  readonly received: ReceivedRecord<Value>
}

/** Passes records of one partition to a consumer's handler, and those that it cannot process to the dead letters. */
export class RecordProcessor<Value> {
  readonly #definition: ConsumerDefinition<Value>
  readonly #context: Required<ConsumerContext>
  readonly #processing: Processing

  constructor(definition: ConsumerDefinition<Value>, context: Required<ConsumerContext>, processing: Processing) {
    this.#definition = definition
    this.#context = context
    this.#processing = processing
  }

  /**
   * Passes records to the handler in their order, in one transaction. A batch that keeps failing because of a record is
   * split in halves until that record is alone. It goes to the dead letters, and the others go on. Unless records are
   * independent, its key is parked, so that no later record overtakes it. Returns the number of dead letters. Throws
   * Interrupted after other errors (`causeOf`), after a statement timeout, after a lock timeout if the handler cannot
   * postpone its records, and when there are no dead letters for them. Then the partition pauses and its records come
   * again, after a statement timeout in smaller batches. Other partitions go on meanwhile. Throws it, too, when the
   * records take a further transaction (AGAIN).
   */
  async processRecords(records: readonly IncomingRecord[]): Promise<number> {
    let dead = 0
    let batch: ParsedRecord<Value>[] = []
    for (const record of records) {
      try {
        batch.push({ record, received: parseRecord(record, this.#definition.schema) })
      } catch (error) {
        dead += await this.#processBatch(batch, RETRY_AFTER_MS)
        dead += await this.#reject(record, error)
        batch = []
      }
    }
    return dead + (await this.#processBatch(batch, RETRY_AFTER_MS))
  }

  async #processBatch(batch: readonly ParsedRecord<Value>[], waits: readonly number[]): Promise<number> {
    const [first, last] = [batch[0], batch.at(-1)]
    if (!first || !last) return 0
    for (let attempt = 0; ; attempt++) {
      const startedAt = performance.now()
      try {
        const dead = await this.#handleBatch(batch)
        this.#markProcessed(last.record)
        return dead
      } catch (error) {
        if (error instanceof Interrupted) throw error
        if (causeOf(error) === 'WORLD') throw this.#pause(first.record, batch.length, error)
        if (isStatementTimeout(error)) {
          const coolDownMs = Math.min(performance.now() - startedAt, LONGEST_COOLDOWN_MS)
          if (!this.#isHalved(batch, error)) return this.#rejectOrPause(first, error, coolDownMs)
          this.#processing.batch.coolDown(coolDownMs)
          throw new Interrupted('a statement took too long', { cause: error })
        }
        const wait = waits[attempt]
        if (wait !== undefined) {
          await pause(wait)
          continue
        }
        if (batch.length === 1) return this.#rejectOrPause(first, error)
        const middle = batch.length >> 1
        const dead = await this.#processBatch(batch.slice(0, middle), [])
        return dead + (await this.#processBatch(batch.slice(middle), []))
      }
    }
  }

  /** Logs and counts a statement timeout. Returns whether its records come again, in smaller batches. */
  #isHalved(batch: readonly ParsedRecord<Value>[], error: unknown): boolean {
    const details = { err: error, ...this.#placeOf(batch[0]?.record, batch.length) }
    this.#context.logger.error(details, 'a statement of the consumer took too long')
    statementTimeouts.add(1, { consumer: this.#definition.name })
    if (batch[0]) this.#processing.progress.note(partitionOf(batch[0].record))
    return this.#processing.halvedBatches.halve(batch.map(({ record }) => record))
  }

  #placeOf(first: IncomingRecord | undefined, records: number) {
    const { topic, partition, offset: first_offset } = first ?? {}
    return { consumer: this.#definition.name, topic, partition, first_offset, records }
  }

  /** Lets the partition pause, at least for so long, and returns the error to throw. Its records come again. */
  #pause(first: IncomingRecord, records: number, error: unknown, atLeastMs = 0): Interrupted {
    const { patience, progress, batch: fetched } = this.#processing
    const partition = partitionOf(first)
    const waitMs = Math.max(patience.failed(partition), atLeastMs)
    const [cause, wait_ms] = [causeOf(error), Math.round(waitMs)]
    const details = { err: error, cause, wait_ms, ...this.#placeOf(first, records) }
    if (!isLockTimeout(error) || patience.seconds(partition) >= LOG_LOCKS_AFTER_SECONDS)
      this.#context.logger[cause === 'BUG' ? 'error' : 'warn'](details, 'records wait for an error to pass')
    progress.note(partition)
    fetched.coolDown(waitMs)
    return new Interrupted('the records wait', { cause: error })
  }

  /** Rejects a record that fails alone. When that may be our bug, throws Interrupted until patience is over. */
  async #rejectOrPause(failed: ParsedRecord<Value>, error: unknown, atLeastMs?: number): Promise<number> {
    const mayPass = causeOf(error) === 'BUG' && !this.#processing.patience.isOver(partitionOf(failed.record), error)
    if (mayPass) throw this.#pause(failed.record, 1, error, atLeastMs)
    return this.#reject(failed.record, error)
  }

  /**
   * Handles the records whose key is not parked in one transaction, then sends the others to the dead letters. Returns
   * their number.
   */
  async #handleBatch(batch: readonly ParsedRecord<Value>[]): Promise<number> {
    const { name, handle, postpone } = this.#definition
    const { rejected, afterCommit } = await this.#handleInTransaction(handle, batch).catch((error: unknown) => {
      if (postpone === undefined || !isLockTimeout(error)) throw error
      return this.#handleInTransaction(postpone, batch)
    })
    let next: unknown
    try {
      next = afterCommit?.()
    } catch (error) {
      this.#context.logger.error({ err: error, consumer: name }, 'failed after the commit')
    }
    if (next === AGAIN) throw this.#comesAgain()
    const [first] = rejected
    const send = () => this.#sendToDeadLetters(rejected, 'an earlier record of its key is here')
    if (first) await this.#rejectWith(send, first, rejected.length)
    return rejected.length
  }

  /** Notes progress, and returns the error to throw: other partitions are processed before the records come again. */
  #comesAgain(): Interrupted {
    const { patience, progress, batch } = this.#processing
    const { logger, onProcessed } = this.#context
    patience.succeeded(batch.partition)
    progress.note(batch.partition)
    onProcessed()
    logger.info({ consumer: this.#definition.name, partition: batch.partition }, 'a part of a batch is committed')
    return new Interrupted('the records take a further transaction')
  }

  async #handleInTransaction(handle: Handle<Value>, batch: readonly ParsedRecord<Value>[]) {
    const { name, isEachIndependent } = this.#definition
    const { db } = this.#context
    const records = batch.map(({ record }) => record)
    const { batch: fetched, progress } = this.#processing
    const noteProgress = () => progress.note(fetched.partition)
    const handleIn = async (tx: TransactionSql) => {
      // Sent ahead of the next statement, so it costs no round trip of its own.
      const statement =
        batch.length > 1 ? tx`, set_config('statement_timeout', ${STATEMENT_TIMEOUT_OF_SEVERAL}, true)` : tx``
      const limited = tx`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)${statement}`.execute()
      const [parked] = await Promise.all([isEachIndependent ? new Set() : parkedKeys(tx, name, records), limited])
      const accepted = batch.filter(({ record }) => !parked.has(record.key)).map(({ received }) => received)
      return {
        rejected: records.filter(({ key }) => parked.has(key)),
        afterCommit: accepted.length > 0 ? await handle(accepted, tx, noteProgress) : undefined,
      }
    }
    this.#throwIfInterrupted()
    const afterStatement = await this.#handleAtOnce(batch)
    if (afterStatement) return { rejected: [], afterCommit: afterStatement }
    return inTransaction(db.sql, handleIn, this.#limits)
  }

  /** A statement that takes too long may wait for a lock: in a transaction that is no error of the records. */
  async #handleAtOnce(batch: readonly ParsedRecord<Value>[]): Promise<(() => unknown) | undefined> {
    const { db, logger } = this.#context
    const received = batch.map(({ received }) => received)
    try {
      return await this.#definition.handleAtOnce?.(received, db.sql)
    } catch (error) {
      if (!isStatementTimeout(error)) throw error
      const details = { err: error, ...this.#placeOf(batch[0]?.record, batch.length) }
      logger.warn(details, 'records that one statement could not handle in time are handled in a transaction')
      statementTimeouts.add(1, { consumer: this.#definition.name })
      return undefined
    }
  }

  /** Parks the record's key, unless records are independent, and sends the record to the dead letters. Returns 1. */
  async #reject(record: IncomingRecord, error: unknown): Promise<number> {
    const { name, isEachIndependent = false } = this.#definition
    const { topic, partition, offset, key, unreadable } = record
    const parked = !isEachIndependent && isParkable(key)
    const batch = unreadable && { first_offset: unreadable.firstOffset, last_offset: unreadable.lastOffset }
    const details = { err: error, consumer: name, topic, partition, offset, key, parked, ...batch }
    const reason = reasonOf(error)
    const send = () => this.#sendToDeadLetters([record], reason)
    // Committed after it is sent: else the record, when it comes again, is one of a parked key and loses its reason.
    const sendAndPark = async (tx: TransactionSql) => {
      await parkKey(tx, name, record, reason)
      await send()
    }
    const { db, logger } = this.#context
    await this.#rejectWith(() => (parked ? inTransaction(db.sql, sendAndPark, this.#limits) : send()), record, 1)
    logger.error(details, 'record rejected')
    this.#markProcessed(record)
    return 1
  }

  /** Short enough that a consumer that waits for the database does not count as stalled. */
  get #limits() {
    return { beginWithinMs: this.#context.stalledAfterMs / 4 }
  }

  /** Rejects records. Lets them wait after every error: none is dropped because it cannot be rejected. */
  async #rejectWith(work: () => Promise<void>, first: IncomingRecord, records: number): Promise<void> {
    this.#throwIfInterrupted()
    await work().catch((error: unknown) => {
      throw this.#pause(first, records, error)
    })
  }

  /** Notes that all records up to this one are committed or in the dead letters. */
  #markProcessed(last: IncomingRecord): void {
    const { batch, halvedBatches, patience, progress } = this.#processing
    batch.markProcessed(last)
    halvedBatches.processed(last)
    const partition = partitionOf(last)
    patience.succeeded(partition)
    progress.note(partition)
  }

  async #sendToDeadLetters(records: readonly IncomingRecord[], reason: string): Promise<void> {
    const { name } = this.#definition
    const { kafka, logger } = this.#context
    const incomplete = await sendDeadLetters(kafka, name, records, reason)
    for (const { topic, partition, offset, key } of incomplete)
      logger.error({ consumer: name, topic, partition, offset, key }, 'a dead letter is too large for its value')
    countDeadLetters(name, records.length, incomplete.length)
  }

  #throwIfInterrupted(): void {
    const { batch, lost } = this.#processing
    if (lost.aborted || !batch.isRunning()) throw new Interrupted('this member has lost the batch or stops')
  }
}
