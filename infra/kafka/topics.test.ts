import { randomUUID } from 'node:crypto'
import { createTopics } from '@backoffice/messaging/create-topics.ts'
import { parts } from '@backoffice/testing/parts.ts'
import { expect, test } from 'vitest'
import { topics } from './topics.ts'

test('a broker takes every topic as it is declared', async () => {
  const added = await createTopics(parts().kafkaBrokers, topics, {
    prefix: `test-${randomUUID()}.`,
    replicationFactor: 1,
  })
  expect(added).toEqual(topics.map(({ name }) => name))
})
