import { expect, test } from 'vitest'
import { topics } from './topics.ts'

test('the services have their topics, and each consumer its dead letters for 90 days', () => {
  const days = Object.fromEntries(
    topics(48).map(({ name, config }) => [
      name,
      Number(config['retention.ms']) / 86_400_000 || config['cleanup.policy'],
    ]),
  )
  expect(days).toMatchObject({
    'catalog.events': 7,
    'catalog.products': 'compact',
    'collections.events': 7,
    'imports.batches': 7,
    'imports.results': 7,
    'platform.events': 7,
    'catalog.imports.dead-letters': 90,
    'collections.imports.dead-letters': 90,
    'collections.products.dead-letters': 90,
    'webhook-delivery.erasures.dead-letters': 90,
    'webhook-delivery.fan-out.dead-letters': 90,
  })
})

test('topics of records have as many partitions as are asked for, dead letters always the same', () => {
  const partitions = Object.fromEntries(topics(48).map(({ name, partitions }) => [name, partitions]))
  expect(partitions).toMatchObject({ 'catalog.events': 48, 'platform.events': 48, 'catalog.imports.dead-letters': 6 })
})
