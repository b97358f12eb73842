import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from '@backoffice/postgres/database.ts'
import { isLockTimeout } from '@backoffice/postgres/postgres-errors.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { meter } from '@backoffice/runtime/metrics.ts'
import type { TransactionSql } from 'postgres'
import { deadLetter, parkedKeys, parkKey } from './dead-letters.ts'
import type { IncomingRecord, Kafka } from './kafka-connection.ts'
import { parseRecord, type ReceivedRecord, type RecordSchema } from './received-records.ts'
import { Interrupted, isTransient, type RetryOptions, retryWhileUnavailable } from './retry.ts'

type Handle<Value> = (records: ReceivedRecord<Value>[], tx: TransactionSql) => Promise<(() => void) | undefined>

/** The handler of a consumer, and what runs around it. */
export interface RecordProcessing<Value> extends RetryOptions {
  /** Validates a record's value. Not a strict object, since records of newer producers have more members. */
  readonly schema: RecordSchema<Value>
  /**
   * Whether the records of a key are independent. If not, the key of a rejected record is parked: its later records go
   * to the dead letters too, since they may build on the rejected one.
   */
  readonly isEachIndependent?: boolean
  /**
   * Handles records of one partition in their order, in a transaction that commits before their offset does. Records
   * can come again, so the rows it writes have a natural unique key, or the consumer has an inbox. The function that it
   * returns is called after the commit; errors of that function are logged and not retried.
   */
  readonly handle: Handle<Value>
  /** Called instead of `handle` when that has waited too long for a lock: stores the records for later. Waits for nobody. */
  readonly postpone?: Handle<Value>
  readonly sql: Sql
  /** A transaction that has not begun by then is tried again, in milliseconds. */
  readonly beginWithinMs: number
  readonly kafka: Kafka
}

/** Waits before a failed batch is retried as a whole, in milliseconds; after the last retry the batch is split. */
const RETRY_AFTER_MS = [50, 250]
const MAX_REASON_LENGTH = 1000
/** The longest wait of a transaction for a lock, unless its handler sets another. Batches of other partitions wait meanwhile. */
const LOCK_TIMEOUT = '1s'
/** Before a batch whose transaction has waited so long comes again. */
const PAUSE_AFTER_LOCK_TIMEOUT_MS = 50

const deadLetters = meter('consumer').createCounter('consumer_dead_letters', {
  description: 'Records sent to a dead-letter topic',
})

interface ParsedRecord<Value> {
  readonly record: IncomingRecord
  readonly received: ReceivedRecord<Value>
}

/**
 * Passes the records of one partition to the handler in their order, in one transaction. A batch that keeps failing is
 * split in halves until the failing record is alone. That record goes to the dead letters, and the others go on. Unless
 * records are independent, its key is parked, so that no later record overtakes it. Transient errors are retried
 * without limit. Returns the number of records sent to the dead letters. Throws Interrupted when a transaction has waited
 * too long for a lock and the handler cannot postpone its records: they come again, and other partitions go on meanwhile.
 */
export async function processRecords<Value>(
  processing: RecordProcessing<Value>,
  records: readonly IncomingRecord[],
): Promise<number> {
  let dead = 0
  let batch: ParsedRecord<Value>[] = []
  for (const record of records) {
    try {
      batch.push({ record, received: parseRecord(record, processing.schema) })
    } catch (error) {
      dead += await processBatch(processing, batch, RETRY_AFTER_MS)
      dead += await rejectRecord(processing, record, error)
      batch = []
    }
  }
  return dead + (await processBatch(processing, batch, RETRY_AFTER_MS))
}

async function processBatch<Value>(
  processing: RecordProcessing<Value>,
  batch: ParsedRecord<Value>[],
  waits: readonly number[],
): Promise<number> {
  const [first] = batch
  if (!first) return 0
  for (let attempt = 0; ; attempt++) {
    try {
      return await handleBatch(processing, batch)
    } catch (error) {
      if (error instanceof Interrupted) throw error
      const wait = waits[attempt]
      if (wait !== undefined) {
        await pause(wait)
        continue
      }
      if (batch.length === 1) return rejectRecord(processing, first.record, error)
      const middle = batch.length >> 1
      const dead = await processBatch(processing, batch.slice(0, middle), [])
      return dead + (await processBatch(processing, batch.slice(middle), []))
    }
  }
}

/** Handles the records whose key is not parked in one transaction, then sends the others to the dead letters. */
async function handleBatch<Value>(processing: RecordProcessing<Value>, batch: ParsedRecord<Value>[]): Promise<number> {
  const { name, handle, postpone, logger } = processing
  const { rejected, afterCommit } = await handleInTransaction(processing, handle, batch)
    .catch((error: unknown) => {
      if (postpone === undefined || !isLockTimeout(error)) throw error
      return handleInTransaction(processing, postpone, batch)
    })
    .catch(async (error: unknown) => {
      if (!isLockTimeout(error)) throw error
      processing.onRetry()
      await pause(PAUSE_AFTER_LOCK_TIMEOUT_MS)
      throw new Interrupted('another transaction has a lock that the records need', { cause: error })
    })
  try {
    afterCommit?.()
  } catch (error) {
    logger.error({ err: error, consumer: name }, 'failed after the commit')
  }
  if (rejected.length > 0) await sendToDeadLetters(processing, rejected, 'an earlier record of its key is here')
  return rejected.length
}

/** Transient errors are retried, but not waits for locks. */
function handleInTransaction<Value>(
  processing: RecordProcessing<Value>,
  handle: Handle<Value>,
  batch: ParsedRecord<Value>[],
) {
  const { name, sql, beginWithinMs, isEachIndependent } = processing
  const records = batch.map(({ record }) => record)
  const handleIn = async (tx: TransactionSql) => {
    // Sent ahead of the next statement, so it costs no round trip of its own.
    const limited = tx`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`.execute()
    const [parked] = await Promise.all([isEachIndependent ? new Set() : parkedKeys(tx, name, records), limited])
    const accepted = batch.filter(({ record }) => !parked.has(record.key)).map(({ received }) => received)
    return {
      rejected: records.filter(({ key }) => parked.has(key)),
      afterCommit: accepted.length > 0 ? await handle(accepted, tx) : undefined,
    }
  }
  return retryWhileUnavailable(
    processing,
    () => inTransaction(sql, handleIn, beginWithinMs),
    (error) => isTransient(error) && !isLockTimeout(error),
  )
}

/** Parks the record's key, unless records are independent, and sends the record to the dead letters. Returns 1. */
async function rejectRecord<Value>(
  processing: RecordProcessing<Value>,
  record: IncomingRecord,
  error: unknown,
): Promise<number> {
  const { name, sql, logger, isEachIndependent = false } = processing
  const reason = (error instanceof Error ? error.message : String(error))
    .replaceAll('\0', '')
    .slice(0, MAX_REASON_LENGTH)
  const { topic, partition, offset, key } = record
  const parked = !isEachIndependent
  logger.error({ err: error, consumer: name, topic, partition, offset, key, parked }, 'record rejected')
  if (parked) await retryWhileUnavailable(processing, () => parkKey(sql, name, record, reason))
  await sendToDeadLetters(processing, [record], reason)
  return 1
}

/** Retries without limit: a record is never dropped because the dead-letter topic cannot be reached. */
async function sendToDeadLetters<Value>(
  processing: RecordProcessing<Value>,
  records: IncomingRecord[],
  reason: string,
): Promise<void> {
  const { kafka, name } = processing
  await retryWhileUnavailable(processing, () =>
    kafka.produce(records.map((record) => deadLetter(name, record, reason))),
  )
  deadLetters.add(records.length, { consumer: name })
}
