import { deadLetterTopic } from '@backoffice/contracts/services.ts'
import { deadLetter, parkKey } from '@backoffice/messaging/consumers/dead-letters.ts'
import type { IncomingRecord } from '@backoffice/messaging/kafka/kafka-connection.ts'
import { aTopic, testKafka } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { openDatabase } from '@backoffice/postgres/database.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { readDeadLetters } from './read-dead-letters.ts'

const CONSUMERS = ['catalog.imports', 'catalog.reservations']
const { kafka } = await testKafka(CONSUMERS.map((name) => aTopic(deadLetterTopic(name))))
const { workerUrl } = await testDatabase('catalog')
const worker = openDatabase({ url: workerUrl, applicationName: 'test' })
whenDone(() => worker.stop?.())

const aRecord = (topic: string, key: string, offset: string): IncomingRecord => ({
  topic,
  key,
  value: Buffer.from('{"email":"ada@example.com"}'),
  headers: {},
  partition: 4,
  offset,
  producedAt: new Date(),
})
const read = (since: Date) =>
  readDeadLetters(kafka, worker.sql, { consumers: CONSUMERS, since, until: new Date(Date.now() + 60_000) })
const AN_HOUR_AGO = new Date(Date.now() - 3_600_000)

test('a service without dead letters has none', async () => {
  expect(await read(AN_HOUR_AGO)).toEqual([])
})

test('each has its consumer, source, key and reason, and no value; a parked key is marked', async () => {
  const parked = aRecord('imports.batches', 'workspace-1', '17')
  await parkKey(worker.sql, 'catalog.imports', parked, 'broken')
  await kafka.produce([deadLetter('catalog.imports', parked, 'broken')])
  await kafka.produce([
    deadLetter('catalog.reservations', aRecord('orders.reservations', 'workspace-1', '3'), 'unknown'),
  ])
  const at = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
  const shared = { at, partition: 4, key: 'workspace-1' }
  expect(await read(AN_HOUR_AGO)).toEqual([
    {
      ...shared,
      consumer: 'catalog.imports',
      topic: 'imports.batches',
      offset: '17',
      parked: true,
      replayed: false,
      reason: 'broken',
    },
    {
      ...shared,
      consumer: 'catalog.reservations',
      topic: 'orders.reservations',
      offset: '3',
      parked: false,
      replayed: false,
      reason: 'unknown',
    },
  ])
  expect(await read(new Date(Date.now() + 30_000))).toEqual([])
})
