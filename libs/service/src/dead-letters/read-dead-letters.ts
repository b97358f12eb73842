import { ApiError } from '@backoffice/contracts/errors.ts'
import { TimestampInput } from '@backoffice/contracts/fields.ts'
import { PageQuery } from '@backoffice/contracts/pagination.ts'
import { consumersOf, deadLetterTopic, type ServiceName } from '@backoffice/contracts/services.ts'
import { isParkable } from '@backoffice/messaging/consumers/dead-letters.ts'
import { END, type IncomingRecord, type Kafka } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { readRange } from '@backoffice/messaging/kafka/read-range.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import {
  contentsOf,
  DeadLetter,
  type DeadLetterContents,
  DeadLetterId,
  type Letter,
  letterOf,
  type Place,
  placeOf,
} from './dead-letter.ts'
import { READING, readRecord, wholeLetter } from './letter-range.ts'
import { whyNotReplayable } from './replayable.ts'

/** The consumers of a service that have dead letters: so many since a time, and keys that a replay frees. */
export const DeadLetterCounts = z.strictObject({
  consumers: z.array(z.strictObject({ consumer: z.string(), letters: z.int(), parked_keys: z.int() })),
})

/**
 * Counts by the offsets, so replayed dead letters count too. Parked keys whose dead letters are never replayed do not
 * count: their imports have ended, and nobody has to do anything.
 */
export async function countDeadLetters(
  kafka: Kafka,
  sql: Sql,
  name: ServiceName,
  since: Date,
): Promise<z.output<typeof DeadLetterCounts>> {
  const names = consumersOf(name).map((consumer) => consumer.name)
  const topics = names.map(deadLetterTopic)
  const [from, until] = [await kafka.offsetsAt(topics, since), await kafka.offsetsAt(topics, END)]
  const lettersOf = (consumer: string) =>
    [...until]
      .filter(([partition]) => partition.startsWith(`${deadLetterTopic(consumer)}/`))
      .reduce((sum, [partition, end]) => sum + end - (from.get(partition) ?? end), 0)
  const parked = await sql<{ consumer: string; keys: number }[]>`
    select consumer, count(*)::integer as keys from (select consumer from parked_key limit 10000) as parked
    group by consumer`
  const keysOf = new Map(parked.map(({ consumer, keys }) => [consumer, keys]))
  const consumers = names.map((consumer) => ({
    consumer,
    letters: lettersOf(consumer),
    parked_keys: whyNotReplayable(consumer) === undefined ? (keysOf.get(consumer) ?? 0) : 0,
  }))
  return { consumers: consumers.filter(({ letters, parked_keys }) => letters + parked_keys > 0) }
}

/** Which dead letters of a consumer are asked for. */
export const DeadLetterQuery = PageQuery.pick({ limit: true }).extend({
  since: TimestampInput.optional(),
  after: DeadLetterId.optional(),
})

export const DeadLetterPage = z.strictObject({ items: z.array(DeadLetter), has_next_page: z.boolean() })

interface Asked {
  readonly consumer: string
  readonly since: Date
  /** The id of the last one of the page before. */
  readonly after?: string | undefined
  readonly limit: number
}

/**
 * Reads a page of a consumer's dead letters, oldest first. It begins at a time, not at the start of the topic, and ends
 * in each partition when the page is full, so a long topic costs no more than a short one. `sql` is of the worker role.
 */
export async function readDeadLetters(
  kafka: Kafka,
  sql: Sql,
  { consumer, since, after, limit }: Asked,
): Promise<z.output<typeof DeadLetterPage>> {
  const topics = [deadLetterTopic(consumer)]
  const last = after === undefined ? undefined : placeOf(after)
  const from = await kafka.offsetsAt(topics, last ? new Date(last.time) : since)
  const read = new Map<string, { latest: number; letters: Letter[] }>()
  const onRecord = (record: IncomingRecord) => {
    const name = `${record.topic}/${record.partition}`
    const ofPartition = read.get(name) ?? { latest: 0, letters: [] }
    read.set(name, ofPartition)
    // Clocks differ. A partition's order is that of its offsets, so a letter has at least the time of the one before.
    ofPartition.latest = Math.max(ofPartition.latest, record.producedAt.getTime())
    const place = { consumer, time: ofPartition.latest, partition: record.partition, offset: Number(record.offset) }
    if (last !== undefined && compare(place, last) <= 0) return
    if (ofPartition.letters.length <= limit) ofPartition.letters.push(letterOf(consumer, record, ofPartition.latest))
  }
  const unread = await readRange(kafka, {
    ...READING,
    topics,
    range: { from, until: await kafka.offsetsAt(topics, END) },
    onRecords: async (records) => records.forEach(onRecord),
    isEnough: (partition) => (read.get(partition)?.letters.length ?? 0) > limit,
  })
  if (unread.size > 0) {
    const reason = `The dead letters of ${consumer} could not be read in time; ask for fewer with limit`
    throw new ApiError('service_unavailable', reason)
  }
  const letters = [...read.values()].flatMap((ofPartition) => ofPartition.letters)
  letters.sort((one, other) => compare(placeOf(one.id), placeOf(other.id)))
  const items = await withStates(sql, letters.slice(0, limit))
  return { items, has_next_page: letters.length > limit }
}

/** Reads one with its contents; null when it is not there. Throws `service_unavailable` when Kafka is too slow. */
export async function readDeadLetter(
  kafka: Kafka,
  sql: Sql,
  id: string,
): Promise<z.output<typeof DeadLetterContents> | null> {
  const { consumer, partition, offset } = placeOf(id)
  const found = await readRecord(kafka, deadLetterTopic(consumer), partition, offset)
  if (found === undefined) return null
  const whole = found === 'late' ? found : ((await wholeLetter(kafka, found)) ?? found)
  if (whole === 'late') throw new ApiError('service_unavailable', `Kafka has not sent ${id} in time; try again`)
  const [letter] = await withStates(sql, [letterOf(consumer, whole)])
  if (letter === undefined) return null
  const { encoding, payload } = contentsOf(whole)
  const headers = Object.entries(whole.headers).map(([name, value]) => [name, String(value)])
  return { ...letter, id, headers: Object.fromEntries(headers), encoding, payload }
}

const compare = (one: Place, other: Place) =>
  one.time - other.time || one.partition - other.partition || one.offset - other.offset

async function withStates(sql: Sql, letters: readonly Letter[]): Promise<DeadLetter[]> {
  if (letters.length === 0) return []
  const states = await sql<{ parked: boolean; replayed: boolean }[]>`
    select
      exists (
        select from parked_key
        where parked_key.consumer = letter.consumer and parked_key.topic = letter.topic and parked_key.key = letter.key
      ) as parked,
      exists (
        select from replayed_dead_letter as done
        where done.consumer = letter.consumer and done.topic = letter.topic and done.partition = letter.partition
          and done."offset" = letter."offset" and done.replayed_at >= letter.at
      ) as replayed
    from unnest(
      ${letters.map(({ consumer }) => consumer)}::text[], ${letters.map(({ topic }) => topic)}::text[],
      ${letters.map(({ partition }) => partition)}::integer[], ${letters.map(({ offset }) => offset)}::bigint[],
      ${letters.map(({ key }) => (isParkable(key) ? key : null))}::text[], ${letters.map(({ at }) => at)}::timestamptz[]
    ) with ordinality as letter (consumer, topic, partition, "offset", key, at, place)
    order by place`
  return letters.map((letter, index) => ({ ...letter, ...(states[index] ?? { parked: false, replayed: false }) }))
}
