import type { Sql, TransactionSql } from 'postgres'
import type { IncomingRecord } from './kafka-connection.ts'

/** PostgreSQL cannot store NUL in a text; a record with such a key stands for itself. */
const isParkable = (key: string | null): key is string => key !== null && !key.includes('\0')

/** Which of the keys of these records, all of one topic, are parked for this consumer. */
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

/** Parks a record's key: from now on its records go to the dead letters, in their order. */
export async function parkKey(sql: Sql, consumer: string, record: IncomingRecord, reason: string): Promise<void> {
  if (!isParkable(record.key)) return
  await sql`
    insert into parked_key (consumer, topic, key, reason)
    values (${consumer}, ${record.topic}, ${record.key}, ${reason})
    on conflict do nothing`
}
