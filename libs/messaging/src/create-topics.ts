import { createLogger } from '@backoffice/runtime/logger.ts'
import { connectKafka } from './kafka.ts'
import type { NewTopic } from './kafka-connection.ts'

/**
 * Creates the missing topics and returns their names; `prefix` goes before every name. Existing topics keep their
 * settings. `replicationFactor` is the number of copies of every record: 3 in production, 1 on a single broker. A write
 * waits for all of them but one. Throws when a topic has fewer partitions than declared: with more partitions, new
 * records of a key could overtake older ones in another partition.
 */
export async function createTopics(
  brokers: readonly string[],
  topics: readonly NewTopic[],
  { prefix = '', replicationFactor }: { readonly prefix?: string; readonly replicationFactor: number },
): Promise<string[]> {
  const clientId = 'create-topics'
  const kafka = connectKafka({ brokers, clientId, prefix, logger: createLogger(clientId, 'warn') })
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
