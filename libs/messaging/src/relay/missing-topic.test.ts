import { randomUUID } from 'node:crypto'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { silent, testKafka } from '../kafka/testing/kafka.ts'
import { registerSchemas } from '../registry/register-schemas.ts'
import { recordSerializer } from '../registry/schema-registry.ts'
import { outboxRelay } from './relay.ts'
import { testOutbox } from './testing/outbox.ts'

const [{ kafka }, outbox] = await Promise.all([
  testKafka([]),
  testOutbox(),
  registerSchemas(backingServices().registryUrl),
])

test('the log names the topic that Kafka does not have, and the row waits', async () => {
  const key = randomUUID()
  await outbox.add(key, 'waits')
  const failures: string[] = []
  const relay = outboxRelay({
    url: outbox.workerUrl,
    schema: 'catalog',
    kafka,
    serialize: recordSerializer(backingServices().registryUrl),
    logger: {
      ...silent,
      info: silent.info,
      error: ({ err }: { err: Error }) => void failures.push(err.message),
    } as never,
  })
  whenDone(() => relay.stop())
  await relay.start()
  await eventually('a failure', () => failures.length > 0)
  expect(failures[0]).toBe('catalog.events: This server does not host this topic-partition')
  const [row] = await outbox.admin`select published_at, refused from outbox where key = ${key}`
  expect(row).toEqual({ published_at: null, refused: null })
})
