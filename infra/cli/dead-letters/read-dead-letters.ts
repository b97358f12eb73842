import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import type { IncomingRecord, Kafka } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { readRange } from '@backoffice/messaging/kafka/read-range.ts'
import type { Sql } from '@backoffice/postgres/database.ts'

/** A dead letter: a record that a consumer could not process. */
export interface Letter {
  readonly at: string
  readonly consumer: string
  /** Where the record was read. */
  readonly topic: string
  readonly partition: number
  readonly offset: string
  readonly reason: string
  readonly record: IncomingRecord
}

/** A dead letter without the record's value, which may have personal data. */
export interface DeadLetter extends Omit<Letter, 'record'> {
  readonly key: string | null
  /** Whether later records of its key go to the dead letters too. */
  readonly parked: boolean
  /** Whether it was sent to its topic again. */
  readonly replayed: boolean
}

/** Which dead letters are read: those of some consumers of one service, from a time range. */
export interface Reading {
  readonly consumers: readonly string[]
  readonly since: Date
  readonly until: Date
}

/** Reads the dead letters of a service's consumers, oldest first. `sql` is of the worker role. Writes nothing. */
export async function readDeadLetters(kafka: Kafka, sql: Sql, reading: Reading): Promise<DeadLetter[]> {
  const consumers = [...reading.consumers]
  const parkedRows = await sql<{ consumer: string; topic: string; key: string }[]>`
    select consumer, topic, key from parked_key where consumer = any(${consumers})`
  const replayedRows = await sql<{ consumer: string; topic: string; partition: number; offset: string }[]>`
    select consumer, topic, partition, "offset" from replayed_dead_letter where consumer = any(${consumers})`
  const parkedKeys = new Set(parkedRows.map(({ consumer, topic, key }) => JSON.stringify([consumer, topic, key])))
  const replayedPositions = new Set(replayedRows.map(recordPosition))
  const letters: DeadLetter[] = []
  await readLetters(kafka, reading, async (read) => {
    for (const { record, reason, ...source } of read) {
      const parked = parkedKeys.has(JSON.stringify([source.consumer, source.topic, record.key]))
      letters.push({
        ...source,
        key: record.key,
        parked,
        replayed: replayedPositions.has(recordPosition(source)),
        reason,
      })
    }
  })
  return letters.sort((one, other) => one.at.localeCompare(other.at))
}

/** The consumer, topic, partition and offset of a dead letter's record, as one text. */
export const recordPosition = (letter: Pick<Letter, 'consumer' | 'topic' | 'partition' | 'offset'>): string =>
  JSON.stringify([letter.consumer, letter.topic, letter.partition, String(letter.offset)])

/** Reads dead letters; those of one key come in their order. `onLetters` is not called again before it has resolved. */
export async function readLetters(
  kafka: Kafka,
  { consumers, since, until }: Reading,
  onLetters: (letters: readonly Letter[]) => Promise<void>,
): Promise<void> {
  const consumerOf = new Map(consumers.map((name): [string, string] => [deadLetterTopic(name), name]))
  const topics = [...consumerOf.keys()]
  const [from, to] = [await kafka.offsetsAt(topics, since), await kafka.offsetsAt(topics, until)]
  const letterOf = (record: IncomingRecord): Letter => ({
    at: header(record, 'dead-letter-at'),
    consumer: consumerOf.get(record.topic) ?? '',
    topic: header(record, 'dead-letter-topic'),
    partition: Number(header(record, 'dead-letter-partition')),
    offset: header(record, 'dead-letter-offset'),
    reason: header(record, 'dead-letter-reason'),
    record,
  })
  await readRange(kafka, {
    topics,
    range: { from, until: to },
    onRecords: (records) => onLetters(records.map(letterOf)),
  })
}

const header = ({ headers }: IncomingRecord, name: string): string => String(headers[name] ?? '')
