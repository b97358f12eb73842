import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import { consumer } from '@backoffice/messaging/consumers/consumer.ts'
import type { MemberOptions } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { aTopic, collect, silent, testKafka } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { recordSerializer } from '@backoffice/messaging/registry/schema-registry.ts'
import { registeredSchemas } from '@backoffice/messaging/registry/testing/registered-schemas.ts'
import { outboxRelay } from '@backoffice/messaging/relay/relay.ts'
import { testOutbox } from '@backoffice/messaging/relay/testing/outbox.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { v7 as uuidv7 } from 'uuid'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ownBroker } from './testing/own-broker.ts'

const broker = await ownBroker()

const group = 'test.events'
const [{ kafka }, outbox] = await Promise.all([
  testKafka([aTopic('catalog.events'), aTopic(deadLetterTopic(group)), aTopic('things')], broker.brokers),
  testOutbox(),
  registeredSchemas(),
])
await outbox.admin`create table seen (id bigint generated always as identity, key text, name text, unique (key, name))`
await outbox.admin`grant insert on seen to catalog_worker`

test('a broker that is killed loses nothing: all rows arrive, those of a key in the order of their commits', async () => {
  const fatals: string[] = []
  const db = openDatabase({ url: outbox.workerUrl, applicationName: 'test' })
  const relay = outboxRelay({
    url: outbox.workerUrl,
    schema: 'catalog',
    kafka,
    serialize: recordSerializer(backingServices().registryUrl),
    logger: silent,
  })
  const reader = consumer(
    {
      name: group,
      topics: ['catalog.events'],
      schema: z.object({ data: z.object({ name: z.string() }) }),
      async handle(records, tx) {
        const rows = records.map(({ key, value }) => ({ key, name: value.data.name }))
        await tx`insert into seen ${tx(rows)} on conflict do nothing`
        return undefined
      },
    },
    { kafka, db, logger: silent, fatal: (reason) => void fatals.push(reason) },
  )
  await Promise.all([relay.start(), reader.start()])

  const keys = [uuidv7(), uuidv7(), uuidv7()]
  const names: string[] = []
  const addUntil = async (isOver: () => Promise<boolean>) => {
    while (!(await isOver())) {
      const name = String(names.length)
      names.push(name)
      await Promise.all(keys.map((key) => outbox.add(key, name)))
      relay.wake()
    }
  }
  const seen = async () => (await outbox.admin<[{ count: number }]>`select count(*)::int from seen`)[0].count

  await addUntil(async () => (await seen()) > 100)
  const before = names.length
  await broker.kill()
  await addUntil(async () => names.length > before + 50)
  await broker.start()
  await addUntil(async () => (await seen()) > 3 * (before + 50))
  await eventually('all events seen', async () => (await seen()) === 3 * names.length)

  for (const key of keys) {
    const rows = await outbox.admin<{ name: string }[]>`select name from seen where key = ${key} order by id`
    expect(rows.map(({ name }) => name)).toEqual(names)
  }
  expect(fatals).toEqual([])
  await reader.stop()
  await relay.stop()
  await db.stop?.()
})

/** A broker that is back keeps the partitions of a member that is gone for its session. */
const SESSION_MS = 120_000

test('a member that lost its broker does not wait for the session of its former self once the broker is back', async () => {
  const patient = {
    ...kafka,
    consume: (options: MemberOptions) => kafka.consume({ ...options, sessionMs: SESSION_MS }),
  }
  const things = collect(patient, 'things')
  const send = () => kafka.produce([{ topic: 'things', key: 'a', value: Buffer.from('x'), headers: {} }])
  await send()
  await things.atLeast(1)
  await broker.kill()
  await eventually('the member has ended', () => things.assigned().size === 0)
  await broker.start()
  const takesRecords = () =>
    send().then(
      () => true,
      () => false,
    )
  await eventually('the broker takes records', takesRecords)
  await things.atLeast(2, SESSION_MS / 2)
})
