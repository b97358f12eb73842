import { randomUUID } from 'node:crypto'
import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { aTopic, collect, silent, testKafka } from '../../kafka/testing/kafka.ts'
import { consumer } from '../consumer.ts'
import type { ConsumerContext, ConsumerDefinition } from '../consumer-definition.ts'
import { Note } from './note.ts'

/** A value in Confluent wire format. */
export const encoded = (value: unknown) =>
  Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), Buffer.from(JSON.stringify(value))])

/** A topic, a database with a table `note (key, name)`, and consumers that write each record into it. */
export async function testConsumer(brokers?: string[]) {
  const name = 'test.notes'
  const [{ prefix, kafka, open }, database] = await Promise.all([
    testKafka([aTopic('notes'), aTopic(deadLetterTopic(name))], brokers),
    testDatabase('catalog'),
  ])
  await database.admin`create table note (id bigint generated always as identity, key text, name text, unique (key, name))`
  await database.admin`grant insert on note to catalog_worker`
  const db = openDatabase({ url: database.workerUrl, applicationName: 'test consumer', poolSize: 4 })
  whenDone(() => db.stop?.())
  const fatals: string[] = []

  const insert: ConsumerDefinition<Note>['handle'] = async (records, tx) => {
    const rows = records.map(({ key, value }) => ({ key, name: value.name }))
    await tx`insert into note ${tx(rows)} on conflict do nothing`
    return undefined
  }
  return {
    name,
    prefix,
    kafka,
    fatals,
    ...database,
    insert,
    /** Starts a consumer that does `handle`; it ends with the test file. */
    async start(
      handle = insert,
      differences: Partial<ConsumerContext> = {},
      options: Pick<
        ConsumerDefinition<Note>,
        'isEachIndependent' | 'batchSize' | 'gatherMs' | 'streamMs' | 'handleAtOnce'
      > = {},
    ) {
      const started = consumer(
        { name, topics: ['notes'], schema: Note, handle, ...options },
        { kafka: open(), db, logger: silent, fatal: (reason) => void fatals.push(reason), ...differences },
      )
      await started.start()
      whenDone(() => started.stop())
      return started
    },
    send: (key: string, ...names: string[]) =>
      kafka.produce(names.map((each) => ({ topic: 'notes', key, value: encoded({ name: each }), headers: {} }))),
    sendRaw: (key: string, value: Buffer) => kafka.produce([{ topic: 'notes', key, value, headers: {} }]),
    /** Waits until so many notes of a key are written, and returns their names in the order of writing. */
    notesOf: (key: string, count: number, withinMs?: number) =>
      eventually(
        `${count} notes of ${key}`,
        async () => {
          const rows = await database.admin<{ name: string }[]>`select name from note where key = ${key} order by id`
          return rows.length >= count && rows.map((row) => row.name)
        },
        withinMs,
      ),
    deadLetters: () => collect(kafka, deadLetterTopic(name)),
    aKey: () => randomUUID(),
    /** Sends some records, and returns keys of two partitions. */
    async keysOfTwoPartitions() {
      const keys: string[] = Array.from({ length: 20 }, () => randomUUID())
      const value = encoded({ name: 'where' })
      await kafka.produce(keys.map((key) => ({ topic: 'notes', key, value, headers: {} })))
      const seen = collect(kafka, 'notes')
      const own = () => seen.records.filter(({ key }) => key !== null && keys.includes(key))
      await eventually('all keys', () => own().length === keys.length)
      const [first, ...others] = own().map(({ key, topic, partition }) => ({
        key: key ?? '',
        partition: `${topic}/${partition}`,
      }))
      const second = others.find(({ partition }) => partition !== first?.partition)
      if (!first || !second) throw new Error('all keys are of one partition')
      return [first, second] as const
    },
  }
}
