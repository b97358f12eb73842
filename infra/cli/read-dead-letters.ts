import { deadLetterTopic } from '@backoffice/messaging/dead-letters.ts'
import type { IncomingRecord, Kafka } from '@backoffice/messaging/kafka-connection.ts'
import { readRange } from '@backoffice/messaging/read-range.ts'
import type { Sql } from '@backoffice/postgres/database.ts'

/** A record that a consumer could not process, without its value: that may have personal data. */
export interface DeadLetter {
  readonly at: string
  readonly consumer: string
  /** Where the record was read. */
  readonly topic: string
  readonly partition: number
  readonly offset: string
  readonly key: string | null
  /** Whether later records of its key go to the dead letters too. */
  readonly parked: boolean
  readonly reason: string
}

interface Reading {
  /** The consumers of one service. */
  readonly consumers: readonly string[]
  readonly since: Date
  readonly until: Date
}

/** Reads the dead letters of a service's consumers, oldest first. `sql` connects as the service's worker role. Writes nothing. */
export async function readDeadLetters(
  kafka: Kafka,
  sql: Sql,
  { consumers, since, until }: Reading,
): Promise<DeadLetter[]> {
  const consumerOf = new Map(consumers.map((name) => [deadLetterTopic(name), name]))
  const topics = [...consumerOf.keys()]
  const parked = await sql<{ consumer: string; topic: string; key: string }[]>`
    select consumer, topic, key from parked_key where consumer = any(${[...consumers]})`
  const parkedKeys = new Set(parked.map(({ consumer, topic, key }) => JSON.stringify([consumer, topic, key])))
  const [from, to] = [await kafka.offsetsAt(topics, since), await kafka.offsetsAt(topics, until)]
  const letters: DeadLetter[] = []
  await readRange(kafka, {
    topics,
    range: { from, until: to },
    async onRecords(records) {
      for (const record of records) {
        const consumer = consumerOf.get(record.topic) ?? ''
        const topic = header(record, 'dead-letter-topic')
        letters.push({
          at: header(record, 'dead-letter-at'),
          consumer,
          topic,
          partition: Number(header(record, 'dead-letter-partition')),
          offset: header(record, 'dead-letter-offset'),
          key: record.key,
          parked: parkedKeys.has(JSON.stringify([consumer, topic, record.key])),
          reason: header(record, 'dead-letter-reason'),
        })
      }
    },
  })
  return letters.sort((one, other) => one.at.localeCompare(other.at))
}

const header = ({ headers }: IncomingRecord, name: string): string => String(headers[name] ?? '')
