import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import type { Sql, TransactionSql } from 'postgres'
import { type IncomingRecord, type Kafka, type OutgoingRecord, RecordsRefused } from '../kafka/kafka-connection.ts'

const MAX_REASON_LENGTH = 1000
const [LEFT_OUT, NEVER_READ] = ['left out', 'never read']

/** A record for the consumer's dead-letter topic: unchanged, with headers that name its source and the reason. */
export function deadLetter(consumer: string, record: IncomingRecord, reason: string): OutgoingRecord {
  const { key, value } = record
  // A producer may have set it.
  const { 'dead-letter-value': _, ...headers } = record.headers
  return { topic: deadLetterTopic(consumer), key, value, headers: { ...headers, ...ownHeaders(record, reason) } }
}

/** A dead letter that Kafka refuses whole: without what may be large, which is left where the record was read. */
const placeholder = (consumer: string, record: IncomingRecord, reason: string): OutgoingRecord => ({
  topic: deadLetterTopic(consumer),
  key: isParkable(record.key) ? record.key : null,
  value: null,
  headers: { ...ownHeaders(record, reason), 'dead-letter-value': LEFT_OUT },
})

const ownHeaders = ({ topic, partition, offset, unreadable }: IncomingRecord, reason: string) => ({
  'dead-letter-topic': topic,
  'dead-letter-partition': String(partition),
  'dead-letter-offset': offset,
  'dead-letter-reason': reason,
  'dead-letter-at': currentTime().toISOString(),
  ...(unreadable && { 'dead-letter-first-offset': unreadable.firstOffset, 'dead-letter-value': NEVER_READ }),
})

/** Whether a dead letter lacks the value of its record. */
export const isPlaceholder = (letter: IncomingRecord): boolean => isWithoutValue(letter, LEFT_OUT)

/** Whether a dead letter stands for a batch whose records could not be read. */
export const isUnreadable = (letter: IncomingRecord): boolean => isWithoutValue(letter, NEVER_READ)

const isWithoutValue = ({ value, headers }: IncomingRecord, why: string) =>
  value === null && String(headers['dead-letter-value']) === why

/**
 * Sends records to the consumer's dead letters, in their order. Splits a request that is too large. A record that fits
 * its topic may be too large with the headers of a dead letter: then a placeholder is sent. Returns the records that
 * have only one.
 */
export async function sendDeadLetters(
  kafka: Kafka,
  consumer: string,
  records: readonly IncomingRecord[],
  reason: string,
): Promise<IncomingRecord[]> {
  const [first] = records
  if (first === undefined) return []
  try {
    await kafka.produce(records.map((record) => deadLetter(consumer, record, reason)))
    return []
  } catch (error) {
    if (!(error instanceof RecordsRefused)) throw error
  }
  if (records.length === 1) {
    await kafka.produce([placeholder(consumer, first, reason)])
    return [first]
  }
  const middle = records.length >> 1
  const before = await sendDeadLetters(kafka, consumer, records.slice(0, middle), reason)
  return [...before, ...(await sendDeadLetters(kafka, consumer, records.slice(middle), reason))]
}

/** The reason of a dead letter, as PostgreSQL and a header can hold it. */
export const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replaceAll('\0', '').slice(0, MAX_REASON_LENGTH)

/** PostgreSQL takes less than 2,704 bytes in an index. Our own keys are ids. */
const MAX_PARKED_BYTES = 2000

/** PostgreSQL cannot store NUL in a text, nor a long one in an index: such a key is never parked. */
export const isParkable = (key: string | null): key is string =>
  key !== null && !key.includes('\0') && Buffer.byteLength(key) <= MAX_PARKED_BYTES

/** The keys among these records, all of one topic, that are parked for this consumer. */
export async function parkedKeys(
  sql: Sql | TransactionSql,
  consumer: string,
  records: readonly IncomingRecord[],
): Promise<Set<string | null>> {
  const topic = records[0]?.topic ?? ''
  const keys = records.map(({ key }) => key).filter(isParkable)
  const rows = await sql<{ key: string }[]>`
    select key from parked_key where consumer = ${consumer} and topic = ${topic} and key = any(${keys})`
  return new Set(rows.map(({ key }) => key))
}

/** Parks a record's key, if `isParkable`: from now on records with it go to the dead letters, in their order. */
export async function parkKey(
  sql: Sql | TransactionSql,
  consumer: string,
  record: IncomingRecord,
  reason: string,
): Promise<void> {
  await sql`
    insert into parked_key (consumer, topic, key, reason)
    values (${consumer}, ${record.topic}, ${record.key}, ${reason})
    on conflict do nothing`
}
