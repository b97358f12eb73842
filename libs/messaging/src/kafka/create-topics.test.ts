import { randomUUID } from 'node:crypto'
import { FEW_PARTITIONS, topics } from '@backoffice/contracts/topics.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, test } from 'vitest'
import { createTopics } from './create-topics.ts'
import { connectKafka } from './kafka.ts'
import type { NewTopic } from './kafka-connection.ts'
import { aTopic, silent } from './testing/kafka.ts'

const brokers = backingServices().kafkaBrokers
const options = () => ({ prefix: `test-${randomUUID()}.`, replicationFactor: 1 })

function connect(prefix: string) {
  const kafka = connectKafka({ brokers, clientId: 'test', prefix, logger: silent })
  whenDone(() => kafka.stop())
  return kafka
}

/** A topic with a record, and its reader, which has read it and has stopped. */
async function aReadTopic(topic: NewTopic, prefix: string) {
  await createTopics(brokers, [topic], { prefix, replicationFactor: 1 })
  const kafka = connect(prefix)
  const publish = (value: string) =>
    kafka.produce([{ topic: topic.name, key: 'key', value: Buffer.from(value), headers: {} }])
  await publish('one')
  let read = 0
  const [group = ''] = topic.readers ?? []
  const start = () =>
    kafka.consume({
      group,
      topics: [topic.name],
      concurrency: 1,
      async onBatch(batch) {
        for (const record of batch.records) batch.markProcessed(record)
        read += batch.records.length
      },
    })
  const reader = start()
  await eventually('the record is read', () => read === 1)
  await reader.stop()
  return { kafka, publish, start }
}

test('adds the topics that are missing, and nothing when run again', async () => {
  const here = options()
  expect(await createTopics(brokers, [aTopic('one')], here)).toEqual({ created: ['one'], mended: [] })
  const two = [aTopic('one'), aTopic('two')]
  expect(await createTopics(brokers, two, here)).toEqual({ created: ['two'], mended: [] })
  expect(await createTopics(brokers, two, here)).toEqual({ created: [], mended: [] })
})

test('a broker takes every topic as it is declared', async () => {
  const here = options()
  const all = topics(FEW_PARTITIONS)
  const { created } = await createTopics(brokers, all, here)
  expect(created).toEqual(all.map(({ name }) => name))
  expect(await createTopics(brokers, all, here)).toEqual({ created: [], mended: [] })
})

test('each difference of each topic is named, and topics that are missing are created all the same', async () => {
  const here = options()
  const hour = { 'cleanup.policy': 'delete', 'retention.ms': '3600000', 'max.message.bytes': '1048576' }
  await createTopics(brokers, [aTopic('products', hour), aTopic('events'), aTopic('same', hour)], here)
  const declared = [
    aTopic('products', { ...hour, 'cleanup.policy': 'compact', 'max.message.bytes': '8388608' }),
    { ...aTopic('events', { 'retention.ms': '604800000' }), partitions: 6 },
    { ...aTopic('same', hour), partitions: 2 },
    aTopic('new'),
  ]
  const error = await createTopics(brokers, declared, { ...here, replicationFactor: 1 }).catch(String)
  expect(String(error).split('\n')).toEqual([
    'Error: Kafka topics differ from what is declared',
    `  ${here.prefix}products: cleanup.policy is delete, declared is compact`,
    `  ${here.prefix}products: max.message.bytes is 1048576, declared is 8388608`,
    `  ${here.prefix}events: has 3 partitions, declared are 6; declare as many (KAFKA_PARTITIONS), or add some by docs/operations.md, “More partitions”`,
    `  ${here.prefix}same: has 3 partitions, declared are 2; Kafka removes no partitions: declare as many`,
    '`topics --fix` changes what it can.',
  ])
  expect([...(await connect(here.prefix).topics(['new'])).keys()]).toEqual(['new'])
})

test('too few copies of records, and writes that wait for too few of them, are named', async () => {
  const here = options()
  await createTopics(brokers, [aTopic('one')], here)
  const inProduction = { ...here, replicationFactor: 3 }
  await expect(createTopics(brokers, [aTopic('one')], inProduction)).rejects.toThrow(
    /one: min.insync.replicas is 1, declared is 2; first add the copies\n.*one: has 1 copies, declared are 3; add copies with/,
  )
})

test('`fix` lets writes wait for no more copies than there are', async () => {
  const here = options()
  await createTopics(brokers, [aTopic('one')], here)
  const changed = createTopics(brokers, [aTopic('one', { 'retention.ms': '7200000' })], {
    ...here,
    replicationFactor: 3,
    fix: true,
  })
  await expect(changed).rejects.toThrow('one: min.insync.replicas is 1, declared is 2; first add the copies')
  expect((await connect(here.prefix).topics(['one'])).get('one')?.config).toMatchObject({
    'retention.ms': '7200000',
    'min.insync.replicas': '1',
  })
})

test('`fix` changes settings, and keeps those that are not declared', async () => {
  const here = options()
  await createTopics(brokers, [aTopic('one', { 'cleanup.policy': 'compact', 'segment.ms': '1000000' })], here)
  const declared = aTopic('one', { 'cleanup.policy': 'delete', 'retention.ms': '7200000' })
  const { mended } = await createTopics(brokers, [declared], { ...here, fix: true })
  expect(mended).toEqual([
    'one: cleanup.policy is compact, declared is delete',
    'one: retention.ms is 604800000, declared is 7200000',
  ])
  const found = await connect(here.prefix).topics(['one'])
  expect(found.get('one')?.config).toMatchObject({ ...declared.config, 'segment.ms': '1000000' })
  expect(await createTopics(brokers, [declared], here)).toEqual({ created: [], mended: [] })
})

test('`fix` adds partitions once all readers have stopped and have read everything', async () => {
  const here = options()
  const topic = { ...aTopic('one'), readers: ['reader'] }
  const larger = [{ ...topic, partitions: 6 }]
  const { kafka, publish, start } = await aReadTopic(topic, here.prefix)
  const fix = () => createTopics(brokers, larger, { ...here, fix: true })

  await publish('two')
  await expect(fix()).rejects.toThrow('one: has 3 partitions, declared are 6; reader has not read 1 records')
  const reader = start()
  await eventually('the reader has a partition', () => reader.assigned().size === 3)
  await expect(fix()).rejects.toThrow('declared are 6; stop all services first: reader run')
  await eventually('all is read', async () => (await kafka.positions('reader', ['one'])).every(({ lag }) => lag === 0))
  await reader.stop()
  expect(await fix()).toEqual({ created: [], mended: ['one: has 3 partitions, declared are 6'] })
  expect((await kafka.topics(['one'])).get('one')?.partitions).toBe(6)
})

test('`fix` adds no partitions to a topic with records that is compacted, or that no group reads', async () => {
  const here = options()
  const compacted = { ...aTopic('states', { 'cleanup.policy': 'compact' }), readers: ['reader'] }
  const letters = aTopic('letters')
  const { kafka } = await aReadTopic(compacted, here.prefix)
  await createTopics(brokers, [letters, aTopic('empty')], here)
  await kafka.produce([{ topic: 'letters', key: 'key', value: null, headers: {} }])
  const larger = [compacted, letters, aTopic('empty')].map((topic) => ({ ...topic, partitions: 6 }))
  const error = await createTopics(brokers, larger, { ...here, fix: true }).catch(String)
  expect(error).toContain('states: has 3 partitions, declared are 6; it keeps records for ever: delete the topic')
  expect(error).toContain('letters: has 3 partitions, declared are 6; it has records, and no group says')
  expect(error).not.toContain('empty')
  expect((await kafka.topics(['empty'])).get('empty')?.partitions).toBe(6)
})
