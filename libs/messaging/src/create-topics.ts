import { createLogger } from '@backoffice/runtime/logger.ts'
import { connectKafka } from './kafka.ts'
import type { NewTopic } from './kafka-connection.ts'

export interface TopicOptions {
  /** Put before every name; see connectKafka. */
  readonly prefix?: string
  /** Copies of every record: 3 in production, 1 on a single broker. A write waits for all but one of them. */
  readonly replicationFactor: number
}

/**
 * Adds the topics that are missing and returns their names; running it again changes nothing. Settings of topics that
 * exist are left alone. Throws when a topic has fewer partitions than declared: adding some would send the records of a
 * key elsewhere, past those that still wait.
 */
export async function createTopics(
  brokers: readonly string[],
  topics: readonly NewTopic[],
  { prefix = '', replicationFactor }: TopicOptions,
): Promise<string[]> {
  const kafka = connectKafka({
    brokers,
    clientId: 'create-topics',
    prefix,
    logger: createLogger('create-topics', 'warn'),
  })
  try {
    const present = await kafka.topics()
    const small = topics.filter(({ name, partitions }) => (present.get(name) ?? partitions) < partitions)
    if (small.length > 0) {
      const each = small.map(({ name, partitions }) => `${name} has ${present.get(name)} of ${partitions}`)
      throw new Error(`Kafka topics with fewer partitions than declared: ${each.join(', ')}`)
    }
    const missing = topics.filter(({ name }) => !present.has(name))
    if (missing.length > 0) await kafka.createTopics(missing, replicationFactor)
    return missing.map(({ name }) => name)
  } finally {
    await kafka.stop()
  }
}
