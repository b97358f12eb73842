import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import type { IncomingRecord, Kafka } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { readRange } from '@backoffice/messaging/kafka/read-range.ts'
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
  /** Whether it was sent to its topic again. */
  readonly replayed: boolean
  readonly reason: string
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
  const parked = await sql<{ consumer: string; topic: string; key: string }[]>`
    select consumer, topic, key from parked_key where consumer = any(${consumers})`
  const replayed = await sql<{ consumer: string; topic: string; partition: number; offset: string }[]>`
    select consumer, topic, partition, "offset" from replayed_dead_letter where consumer = any(${consumers})`
  const parkedKeys = new Set(parked.map(({ consumer, topic, key }) => JSON.stringify([consumer, topic, key])))
  const replayedOnes = new Set(replayed.map(recordPosition))
  const letters: DeadLetter[] = []
  await readLetters(kafka, reading, async (read) => {
    for (const { record, ...letter } of read) {
      const isParked = parkedKeys.has(JSON.stringify([letter.consumer, letter.topic, record.key]))
      const { reason, ...source } = letter
      letters.push({
        ...source,
        key: record.key,
        parked: isParked,
        replayed: replayedOnes.has(recordPosition(letter)),
        reason,
      })
    }
  })
  return letters.sort((one, other) => one.at.localeCompare(other.at))
}

/** A dead letter with its record. */
export interface Letter extends Pick<DeadLetter, 'at' | 'consumer' | 'topic' | 'partition' | 'offset' | 'reason'> {
  readonly record: IncomingRecord
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
  const consumerOf = new Map(consumers.map((name) => [deadLetterTopic(name), name]))
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
