import { conflict } from '@backoffice/contracts/errors.ts'
import { TimestampInput } from '@backoffice/contracts/fields.ts'
import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import { isParkable, isPlaceholder, isUnreadable } from '@backoffice/messaging/consumers/dead-letters.ts'
import {
  END,
  type IncomingRecord,
  type Kafka,
  type OutgoingRecord,
} from '@backoffice/messaging/kafka/kafka-connection.ts'
import { type OffsetRange, readRange } from '@backoffice/messaging/kafka/read-range.ts'
import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { z } from 'zod'
import { DeadLetterId, type Letter, letterOf, placeOf } from './dead-letter.ts'
import { READING, rangeOf, wholeLetter } from './letter-range.ts'
import { whyNotReplayable } from './replayable.ts'

/** Which dead letters of a consumer are replayed: those since a time, or these. `rest` is what a replay has left. */
export const ReplayedLetters = z.strictObject({
  since: TimestampInput.optional(),
  ids: z.array(DeadLetterId).min(1).max(100).optional(),
  rest: z
    .string()
    .max(10_000)
    .regex(/^\d{1,6}:\d{1,15}-\d{1,15}(,\d{1,6}:\d{1,15}-\d{1,15})*$/, 'must be what the request before has left')
    .optional(),
})

/** How many were sent now, and by earlier replays. With a `rest`, repeat the request with it. */
export const Replayed = z.strictObject({
  replayed: z.int(),
  replayed_before: z.int(),
  rest: z.string().nullable(),
})

interface Timing {
  readonly withinMs?: number
  /** In milliseconds. */
  readonly monotonic?: () => number
}

/** A dead letter and the record that it is. */
type SentLetter = Letter & { readonly record: IncomingRecord }

/**
 * Sends dead letters to the topics that they were read from, unchanged and each once, and unparks their keys. A later
 * record of such a key may overtake them, and every consumer of the topic gets them again: consumers take late and
 * repeated records. One that fails again is a new dead letter, which this replay does not take. A placeholder whose
 * record is gone is left out. May be interrupted and repeated, also beside another one. Ends after `withinMs`. `sql`
 * connects as the worker role of the service.
 * Throws `conflict` for a consumer whose dead letters must not be sent again, and for the id of a batch that was never
 * read or of a record that no consumer has sent there. Without ids these are left out.
 */
export async function replayDeadLetters(
  kafka: Kafka,
  sql: Sql,
  consumer: string,
  chosen: z.output<typeof ReplayedLetters>,
  { withinMs = READING.withinMs, monotonic = () => performance.now() }: Timing = {},
): Promise<z.output<typeof Replayed>> {
  const refusal = whyNotReplayable(consumer)
  if (refusal !== undefined) throw conflict([], `${consumer}: not replayed, since ${refusal}`)
  const topic = deadLetterTopic(consumer)
  const range = await chosenRange(kafka, topic, chosen)
  const ids = chosen.ids && new Set(chosen.ids.map(placeOf).map(({ partition, offset }) => `${partition}:${offset}`))
  let [replayed, replayed_before] = [0, 0]
  const endsAt = monotonic() + withinMs
  /** By partition: the first placeholder that there was no time for. */
  const left = new Map<string, number>()
  const unread = await readRange(kafka, {
    ...READING,
    withinMs,
    topics: [topic],
    range,
    async onRecords(records) {
      const chosenOf = records
        .filter(({ partition, offset }) => ids?.has(`${partition}:${offset}`) ?? true)
        .map((record) => ({ ...letterOf(consumer, record), record }))
      for (const letter of ids ? chosenOf : []) {
        const why = whyNotSent(letter)
        if (why !== undefined) throw conflict([], `${letter.id}: not replayed, since ${why}`)
      }
      const letters = chosenOf.filter((letter) => whyNotSent(letter) === undefined)
      if (letters.length === 0) return
      const send = async (whole: readonly SentLetter[]) => {
        // Committed first: else the consumer parks them again.
        await unpark(sql, whole)
        // Committed after the records are sent: an interruption in between repeats records and loses none.
        const sent = await inTransaction(sql, async (tx) => {
          const noted = await noteReplayed(tx, whole)
          await kafka.produce(noted.map(recordOf))
          return noted.length
        })
        replayed += sent
        replayed_before += whole.length - sent
      }
      await send(letters.filter(({ record }) => !isPlaceholder(record)))
      // Each by itself: two may be too large for one request, and each takes a reading.
      for (const letter of letters.filter(({ record }) => isPlaceholder(record))) {
        const remainingMs = endsAt - monotonic()
        const record = remainingMs > 0 ? await wholeLetter(kafka, letter.record, remainingMs) : 'late'
        if (record === 'late') {
          const partition = `${topic}/${letter.record.partition}`
          left.set(partition, left.get(partition) ?? Number(letter.record.offset))
          return
        }
        if (record === undefined) await unpark(sql, [letter])
        else await send([{ ...letter, record }])
      }
    },
  })
  const rest = [...new Map([...unread, ...left])].map(
    ([name, offset]) => `${name.slice(topic.length + 1)}:${offset}-${range.until.get(name) ?? 0}`,
  )
  return { replayed, replayed_before, rest: rest.length > 0 ? rest.join() : null }
}

async function chosenRange(
  kafka: Kafka,
  topic: string,
  { since = new Date(0).toISOString(), ids, rest }: z.output<typeof ReplayedLetters>,
): Promise<OffsetRange> {
  if (rest !== undefined) {
    const spans = rest.split(',').map((span) => {
      const [partition = 0, from = 0, until = 0] = span.split(/[:-]/).map(Number)
      return { partition, from, until }
    })
    return rangeOf(kafka, topic, spans)
  }
  if (ids !== undefined) {
    const places = ids.map(placeOf)
    return rangeOf(
      kafka,
      topic,
      places.map(({ partition, offset }) => ({ partition, from: offset, until: offset + 1 })),
    )
  }
  return { from: await kafka.offsetsAt([topic], new Date(since)), until: await kafka.offsetsAt([topic], END) }
}

/** Why a letter cannot be sent to where its record was read, and what to do instead. */
function whyNotSent({ consumer, topic, reason, record }: SentLetter): string | undefined {
  if (isUnreadable(record)) return `its records were never read (${reason}): publish them again`
  if (topic === deadLetterTopic(consumer)) return 'no consumer has sent it there: publish it to its own topic'
  return undefined
}

/** A letter that was replayed before unparks nothing: another one of its key has failed since. */
const unpark = (sql: Sql, letters: readonly Letter[]) => sql`
  delete from parked_key using unnest(
    ${letters.map(({ consumer }) => consumer)}::text[], ${letters.map(({ topic }) => topic)}::text[],
    ${letters.map(({ partition }) => partition)}::integer[], ${letters.map(({ offset }) => offset)}::bigint[],
    ${letters.map(({ key }) => (isParkable(key) ? key : null))}::text[], ${letters.map(({ at }) => at)}::timestamptz[]
  ) as letter (consumer, topic, partition, "offset", key, at)
  where parked_key.consumer = letter.consumer and parked_key.topic = letter.topic and parked_key.key = letter.key
    and not exists (
      select from replayed_dead_letter as replayed
      where replayed.consumer = letter.consumer and replayed.topic = letter.topic
        and replayed.partition = letter.partition and replayed."offset" = letter."offset" and replayed_at >= letter.at
    )`

/**
 * Notes letters as replayed. Returns those that were not yet, each once, in their order. A note from before a letter is
 * of another record: the offsets of a topic that was made again, or has another prefix, begin at 0.
 */
async function noteReplayed(tx: AnySql, letters: readonly SentLetter[]): Promise<SentLetter[]> {
  const given = tx`unnest(
    ${letters.map(({ consumer }) => consumer)}::text[], ${letters.map(({ topic }) => topic)}::text[],
    ${letters.map(({ partition }) => partition)}::integer[], ${letters.map(({ offset }) => offset)}::bigint[],
    ${letters.map(({ at }) => at)}::timestamptz[]
  ) as letter (consumer, topic, partition, "offset", at)`
  await tx`
    delete from replayed_dead_letter as former using ${given}
    where former.consumer = letter.consumer and former.topic = letter.topic
      and former.partition = letter.partition and former."offset" = letter."offset" and former.replayed_at < letter.at`
  const noted = await tx<Pick<Letter, 'topic' | 'partition' | 'offset'>[]>`
    insert into replayed_dead_letter (consumer, topic, partition, "offset", replayed_at)
    select consumer, topic, partition, "offset", greatest(now(), at) from ${given}
    on conflict do nothing
    returning topic, partition, "offset"`
  const positions = new Set(noted.map(positionOf))
  // A record may be among the dead letters twice.
  return letters.filter((letter) => positions.delete(positionOf(letter)))
}

const positionOf = ({ topic, partition, offset }: Pick<Letter, 'topic' | 'partition' | 'offset'>): string =>
  JSON.stringify([topic, partition, String(offset)])

const recordOf = ({ topic, record: { key, value, headers } }: SentLetter): OutgoingRecord => ({
  topic,
  key,
  value,
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('dead-letter-'))),
})
