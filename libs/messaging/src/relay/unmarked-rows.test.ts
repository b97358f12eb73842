import { randomUUID } from 'node:crypto'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { aTopic, collect, silent, testKafka } from '../kafka/testing/kafka.ts'
import { recordSerializer } from '../registry/schema-registry.ts'
import { registeredSchemas } from '../registry/testing/registered-schemas.ts'
import { outboxRelay } from './relay.ts'
import { testOutbox } from './testing/outbox.ts'

const [{ kafka }, outbox] = await Promise.all([
  testKafka([aTopic('catalog.events')]),
  testOutbox(),
  registeredSchemas(),
])
const events = collect(kafka, 'catalog.events')

/** Lets the relay's role read only, or write again; ends its connections, since the setting is of new ones. */
async function setReadOnly(value: 'on' | 'off') {
  const [{ name }] = await outbox.admin<[{ name: string }]>`select current_database() as name`
  await outbox.admin.unsafe(
    `alter role catalog_worker in database "${name}" set default_transaction_read_only = ${value}`,
  )
  await outbox.admin`
    select pg_terminate_backend(pid, 10_000) from pg_stat_activity
    where datname = current_database() and usename = 'catalog_worker'`
}

test('3 changes stay 3 records while PostgreSQL refuses their marks; later ones wait, and go out once it takes them', async () => {
  const keys = [randomUUID(), randomUUID(), randomUUID()]
  for (const key of keys) await outbox.add(key, 'before')
  await setReadOnly('on')
  const failures: { unmarked?: number; err: { code?: string } }[] = []
  const relay = outboxRelay({
    url: outbox.workerUrl,
    schema: 'catalog',
    kafka,
    serialize: recordSerializer(backingServices().registryUrl),
    logger: {
      ...silent,
      info: silent.info,
      error: (line: (typeof failures)[number]) => void failures.push(line),
    } as never,
    pollMs: 50,
  })
  whenDone(() => relay.stop())
  await relay.start()
  const refused = () => failures.filter(({ err }) => err.code === '25006').length
  await events.atLeast(3)
  await outbox.add(randomUUID(), 'meanwhile')
  await eventually('five refused marks', () => refused() >= 5)
  expect(events.records.map(({ key }) => key).toSorted()).toEqual(keys.toSorted())
  expect(failures.at(-1)?.unmarked).toBe(3)

  await setReadOnly('off')
  await outbox.untilEmpty()
  await events.atLeast(4)
  await outbox.add(randomUUID(), 'after')
  expect(await events.atLeast(5)).toHaveLength(5)
  expect(new Set(events.records.map(({ key }) => key)).size).toBe(5)
})
