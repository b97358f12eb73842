import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { startChild } from '@backoffice/testing/processes/child.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { decodeRecord } from '../consumers/received-records.ts'
import { aTopic, collect, silent, testKafka } from '../kafka/testing/kafka.ts'
import { recordSerializer } from '../registry/schema-registry.ts'
import { registeredSchemas } from '../registry/testing/registered-schemas.ts'
import { outboxRelay } from './relay.ts'
import { testOutbox } from './testing/outbox.ts'

test('a leader that stood still with rows in hand publishes nothing after the newer rows of the next leader', async () => {
  const { kafkaBrokers, registryUrl } = backingServices()
  const [{ kafka, prefix }, outbox] = await Promise.all([
    testKafka([aTopic('catalog.events')]),
    testOutbox(),
    registeredSchemas(),
  ])
  const { records } = collect(kafka, 'catalog.events')
  const namesAre = (...names: string[]) =>
    eventually(`the records are ${names}`, () => records.length >= names.length).then(() =>
      expect(records.map(({ value }) => decodeRecord(value ?? Buffer.alloc(0)))).toMatchObject(
        names.map((name) => ({ data: { name } })),
      ),
    )
  const printed: string[] = []
  const suspended = await startChild({
    name: 'suspended leader',
    file: process.execPath,
    args: [
      fileURLToPath(new URL('./testing/suspended-leader.ts', import.meta.url)),
      ...[outbox.workerUrl, kafkaBrokers[0] ?? '', prefix, registryUrl],
    ],
    output: (line) => printed.push(line),
    stopSignal: 'SIGKILL',
  })
  whenDone(suspended.kill)
  const key = randomUUID()
  await outbox.add(key, 'first')
  await namesAre('first')
  await outbox.untilEmpty()
  await outbox.add(key, 'older')
  await eventually('it stands still', () => printed.includes('stops'))

  // As PostgreSQL does when the leader's host is silent.
  await outbox.admin`
    select pg_terminate_backend(pid, 10_000) from pg_stat_activity
    where application_name = 'catalog relay' and datname = current_database()`
  const serialize = recordSerializer(registryUrl)
  const next = outboxRelay({ url: outbox.workerUrl, schema: 'catalog', kafka, serialize, logger: silent, pollMs: 50 })
  whenDone(() => next.stop())
  await next.start()
  await outbox.add(key, 'newer')
  await namesAre('first', 'older', 'newer')

  suspended.signal('SIGCONT')
  await eventually('it goes on', () => printed.includes('goes on'))
  await outbox.add(key, 'last')
  await namesAre('first', 'older', 'newer', 'last')
})
