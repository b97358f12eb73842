import { setTimeout as pause } from 'node:timers/promises'
import { isStatementTimeout } from '@backoffice/postgres/postgres-errors.ts'
import { meter } from '@backoffice/runtime/metrics.ts'
import type { IncomingRecord } from '../kafka/kafka-connection.ts'
import { handleBatch } from './handle-batch.ts'
import { parseRecord } from './received-records.ts'
import type { ParsedRecord, RecordProcessing } from './record-processing.ts'
import { rejectRecord } from './reject-record.ts'
import { Interrupted } from './retry.ts'

/** Waits before a failed batch is retried as a whole, in milliseconds; after the last retry the batch is split. */
const RETRY_AFTER_MS = [50, 250]
/** After a statement timeout the partition pauses for as long as the batch took, so others get half of the time; at most this. */
const LONGEST_REST_MS = 30_000

const statementTimeouts = meter('consumer').createCounter('consumer_statement_timeouts', {
  description: 'Transactions that were ended because a statement took too long',
})

/**
 * Passes the records of one partition to the handler in their order, in one transaction. A batch that keeps failing is
 * split in halves until the failing record is alone. That record goes to the dead letters, and the others go on. Unless
 * records are independent, its key is parked, so that no later record overtakes it. Transient errors are retried
 * without limit. Returns the number of records sent to the dead letters. Throws Interrupted after a statement timeout, and
 * after a lock timeout if the handler cannot postpone its records. Then the records come again, after a statement timeout in
 * smaller batches, and other partitions go on meanwhile.
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
  const [first, last] = [batch[0], batch.at(-1)]
  if (!first || !last) return 0
  for (let attempt = 0; ; attempt++) {
    const startedAt = performance.now()
    try {
      const dead = await handleBatch(processing, batch)
      processing.onProcessed(last.record)
      return dead
    } catch (error) {
      if (error instanceof Interrupted) throw error
      if (isStatementTimeout(error)) {
        if (triesAgain(processing, batch, error)) {
          processing.rest(Math.min(performance.now() - startedAt, LONGEST_REST_MS))
          throw new Interrupted('a statement took too long', { cause: error })
        }
        return rejectRecord(processing, first.record, error)
      }
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

/** Logs and counts a statement timeout. Returns whether its records come again, in smaller batches. */
function triesAgain<Value>(
  { name, logger, halvedBatches, onRetry }: RecordProcessing<Value>,
  batch: readonly ParsedRecord<Value>[],
  error: unknown,
): boolean {
  const records = batch.map(({ record }) => record)
  const { topic, partition, offset: first_offset } = records[0] ?? {}
  const where = { consumer: name, topic, partition, first_offset, records: records.length }
  logger.error({ err: error, ...where }, 'a statement of the consumer took too long')
  statementTimeouts.add(1, { consumer: name })
  onRetry()
  return halvedBatches.halve(records)
}
