import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import type { Sql, TransactionSql } from 'postgres'
import type { IncomingRecord, OutgoingRecord } from '../kafka/kafka-connection.ts'

const MAX_REASON_LENGTH = 1000

/** A record for the consumer's dead-letter topic: unchanged, with headers that name its source and the reason. */
export const deadLetter = (consumer: string, record: IncomingRecord, reason: string): OutgoingRecord => ({
  topic: deadLetterTopic(consumer),
  key: record.key,
  value: record.value,
  headers: {
    ...record.headers,
    'dead-letter-topic': record.topic,
    'dead-letter-partition': String(record.partition),
    'dead-letter-offset': record.offset,
    'dead-letter-reason': reason,
    'dead-letter-at': new Date().toISOString(),
  },
})

/** The reason of a dead letter, as PostgreSQL and a header can hold it. */
export const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replaceAll('\0', '').slice(0, MAX_REASON_LENGTH)

/** PostgreSQL cannot store NUL in a text, so a key with NUL is never parked. */
export const isParkable = (key: string | null): key is string => key !== null && !key.includes('\0')

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

/** Parks a record's key: from now on records with this key go to the dead letters, in their order. */
export async function parkKey(sql: Sql, consumer: string, record: IncomingRecord, reason: string): Promise<void> {
  if (!isParkable(record.key)) return
  await sql`
    insert into parked_key (consumer, topic, key, reason)
    values (${consumer}, ${record.topic}, ${record.key}, ${reason})
    on conflict do nothing`
}
