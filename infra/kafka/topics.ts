import { TOPICS, type Topic } from '@backoffice/contracts/events.ts'
import type { NewTopic } from '@backoffice/messaging/kafka-connection.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** Fixed for the life of a topic, since another number would move keys between partitions. */
const PARTITIONS = 6

/** The state of a product with 2,048 variants is several times the broker's usual limit of 1 MiB. */
const MAX_RECORD_BYTES = 8 * 1024 * 1024

const retained = (days: number) => ({
  'cleanup.policy': 'delete',
  'retention.ms': String(days * DAY_MS),
  'max.message.bytes': String(MAX_RECORD_BYTES),
})

/** Keeps the newest record of each key. A reader that starts over has a week until tombstones go. */
const compacted = {
  'cleanup.policy': 'compact',
  'delete.retention.ms': String(7 * DAY_MS),
  'max.message.bytes': String(MAX_RECORD_BYTES),
}

/** What the services publish. */
const published: Record<Topic, NewTopic['config']> = {
  [TOPICS.catalogEvents]: retained(7),
  [TOPICS.catalogProducts]: compacted,
  [TOPICS.collectionsEvents]: retained(7),
  [TOPICS.importsBatches]: retained(7),
  [TOPICS.importsResults]: retained(7),
  [TOPICS.platformEvents]: retained(7),
}

/** What consumers could not process, kept long enough for somebody to look into it. */
const deadLetters = {
  'catalog.imports.dead-letters': retained(90),
  'collections.imports.dead-letters': retained(90),
  'collections.products.dead-letters': retained(90),
  'webhook-delivery.fan-out.dead-letters': retained(90),
}

/** Every topic there is. */
export const topics: readonly NewTopic[] = Object.entries({ ...published, ...deadLetters }).map(([name, config]) => ({
  name,
  partitions: PARTITIONS,
  config,
}))
