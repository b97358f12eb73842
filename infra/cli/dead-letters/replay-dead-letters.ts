import type { Kafka, OutgoingRecord } from '@backoffice/messaging/kafka/kafka-connection.ts'
import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { type Letter, type Reading, readLetters, recordPosition } from './read-dead-letters.ts'

/**
 * Sends dead letters to the topics that they were read from, unchanged and each once, and unparks their keys. A later
 * record of such a key may overtake them, and every consumer of the topic gets them again: consumers take late and
 * repeated records. One that fails again is a new dead letter. May be interrupted and repeated. `sql` connects as the
 * worker role of the consumers' service. Returns how many were sent now, and how many by earlier runs.
 */
export async function replayDeadLetters(kafka: Kafka, sql: Sql, reading: Reading) {
  let [now, before] = [0, 0]
  await readLetters(kafka, reading, async (letters) => {
    await unpark(sql, letters)
    // Committed after the records are sent: an interruption in between repeats records and loses none.
    const sent = await inTransaction(sql, async (tx) => {
      const chosen = await noteReplayed(tx, letters)
      await kafka.produce(chosen.map(recordOf))
      return chosen.length
    })
    now += sent
    before += letters.length - sent
  })
  return { now, before }
}

const unpark = (sql: Sql, letters: readonly Letter[]) => sql`
  delete from parked_key using unnest(
    ${letters.map(({ consumer }) => consumer)}::text[], ${letters.map(({ topic }) => topic)}::text[],
    ${letters.map(({ record }) => record.key)}::text[]
  ) as letter (consumer, topic, key)
  where parked_key.consumer = letter.consumer and parked_key.topic = letter.topic and parked_key.key = letter.key`

/** Notes letters as replayed. Returns those that were not yet, each once, in their order. */
async function noteReplayed(tx: AnySql, letters: readonly Letter[]): Promise<Letter[]> {
  const noted = await tx<Pick<Letter, 'consumer' | 'topic' | 'partition' | 'offset'>[]>`
    insert into replayed_dead_letter (consumer, topic, partition, "offset")
    select * from unnest(
      ${letters.map(({ consumer }) => consumer)}::text[], ${letters.map(({ topic }) => topic)}::text[],
      ${letters.map(({ partition }) => partition)}::integer[], ${letters.map(({ offset }) => offset)}::bigint[]
    )
    on conflict do nothing
    returning consumer, topic, partition, "offset"`
  const positions = new Set(noted.map(recordPosition))
  // A record may be among the dead letters twice.
  return letters.filter((letter) => positions.delete(recordPosition(letter)))
}

const recordOf = ({ topic, record: { key, value, headers } }: Letter): OutgoingRecord => ({
  topic,
  key,
  value,
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('dead-letter-'))),
})
