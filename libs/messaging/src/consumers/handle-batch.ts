import { setTimeout as pause } from 'node:timers/promises'
import { isLockTimeout } from '@backoffice/postgres/postgres-errors.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import type { TransactionSql } from 'postgres'
import { parkedKeys } from './dead-letters.ts'
import type { Handle, ParsedRecord, RecordProcessing } from './record-processing.ts'
import { sendToDeadLetters } from './reject-record.ts'
import { Interrupted, isTransient, retryWhileUnavailable } from './retry.ts'

/** The longest wait of a transaction for a lock, unless its handler sets another. Batches of other partitions wait meanwhile. */
const LOCK_TIMEOUT = '1s'
/** The pause after a lock timeout, before the batch comes again, in milliseconds. */
const PAUSE_AFTER_LOCK_TIMEOUT_MS = 50
/** The longest statement for several records; the batch can be halved. A single record has the time limit of the role. */
const STATEMENT_TIMEOUT_OF_SEVERAL = '10s'

/**
 * Handles the records whose key is not parked in one transaction, then sends the others to the dead letters and returns their
 * number. Throws Interrupted when the transaction has waited too long for a lock and the handler cannot postpone its records.
 */
export async function handleBatch<Value>(
  processing: RecordProcessing<Value>,
  batch: ParsedRecord<Value>[],
): Promise<number> {
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

/** Runs the handler in a transaction. Retries transient errors, except lock timeouts. */
function handleInTransaction<Value>(
  processing: RecordProcessing<Value>,
  handle: Handle<Value>,
  batch: ParsedRecord<Value>[],
) {
  const { name, sql, beginWithinMs, isEachIndependent } = processing
  const records = batch.map(({ record }) => record)
  const handleIn = async (tx: TransactionSql) => {
    // Sent ahead of the next statement, so it costs no round trip of its own.
    const statement =
      batch.length > 1 ? tx`, set_config('statement_timeout', ${STATEMENT_TIMEOUT_OF_SEVERAL}, true)` : tx``
    const limited = tx`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)${statement}`.execute()
    const [parked] = await Promise.all([isEachIndependent ? new Set() : parkedKeys(tx, name, records), limited])
    const accepted = batch.filter(({ record }) => !parked.has(record.key)).map(({ received }) => received)
    return {
      rejected: records.filter(({ key }) => parked.has(key)),
      afterCommit: accepted.length > 0 ? await handle(accepted, tx) : undefined,
    }
  }
  return retryWhileUnavailable(
    processing,
    () => inTransaction(sql, handleIn, { beginWithinMs }),
    (error) => isTransient(error) && !isLockTimeout(error),
  )
}
