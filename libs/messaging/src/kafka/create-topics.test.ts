import { randomUUID } from 'node:crypto'
import { topics } from '@backoffice/contracts/topics.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { expect, test } from 'vitest'
import { createTopics } from './create-topics.ts'
import { aTopic } from './testing/kafka.ts'

const options = () => ({ prefix: `test-${randomUUID()}.`, replicationFactor: 1 })

test('adds the topics that are missing, and nothing when run again', async () => {
  const here = options()
  const brokers = backingServices().kafkaBrokers
  expect(await createTopics(brokers, [aTopic('one')], here)).toEqual(['one'])
  expect(await createTopics(brokers, [aTopic('one'), aTopic('two')], here)).toEqual(['two'])
  expect(await createTopics(brokers, [aTopic('one'), aTopic('two')], here)).toEqual([])
})

test('a topic with fewer partitions than declared is named', async () => {
  const here = options()
  const brokers = backingServices().kafkaBrokers
  await createTopics(brokers, [aTopic('one')], here)
  const larger = { ...aTopic('one'), partitions: 6 }
  await expect(createTopics(brokers, [larger], here)).rejects.toThrow('fewer partitions than declared: one has 3 of 6')
})

test('a broker takes every topic as it is declared', async () => {
  const added = await createTopics(backingServices().kafkaBrokers, topics, options())
  expect(added).toEqual(topics.map(({ name }) => name))
})
