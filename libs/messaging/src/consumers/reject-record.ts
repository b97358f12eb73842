import type { IncomingRecord } from '../kafka/kafka-connection.ts'
import { countDeadLetters } from './consumer-metrics.ts'
import { deadLetter, parkKey } from './dead-letters.ts'
import type { RecordProcessing } from './record-processing.ts'
import { retryWhileUnavailable } from './retry.ts'

const MAX_REASON_LENGTH = 1000

/** Parks the record's key, unless records are independent, and sends the record to the dead letters. Returns 1. */
export async function rejectRecord<Value>(
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
  processing.onProcessed(record)
  return 1
}

/** Retries without limit: a record is never dropped because the dead-letter topic cannot be reached. */
export async function sendToDeadLetters<Value>(
  processing: RecordProcessing<Value>,
  records: IncomingRecord[],
  reason: string,
): Promise<void> {
  const { kafka, name } = processing
  await retryWhileUnavailable(processing, () =>
    kafka.produce(records.map((record) => deadLetter(name, record, reason))),
  )
  countDeadLetters(name, records.length)
}
