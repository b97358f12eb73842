import { expect, test } from 'vitest'
import { topics } from './topics.ts'

test('the services have their topics, and each consumer its dead letters for 90 days', () => {
  const days = Object.fromEntries(
    topics.map(({ name, config }) => [name, Number(config['retention.ms']) / 86_400_000 || config['cleanup.policy']]),
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
