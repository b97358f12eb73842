import { setTimeout as pause } from 'node:timers/promises'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { connectKafka } from './kafka.ts'
import type { NewTopic } from './kafka-connection.ts'
import type { KafkaServers } from './kafka-settings.ts'

const ATTEMPTS = 6
const PAUSE_MS = 500

/**
 * Creates the missing topics and returns their names; `prefix` goes before every name. Existing topics keep their
 * settings. `replicationFactor` is the number of copies of every record: 3 in production, 1 on a single broker. A write
 * waits for all of them but one. Throws when a topic has fewer partitions than declared: with more partitions, new
 * records of a key could overtake older ones in another partition.
 */
export async function createTopics(
  brokers: readonly string[],
  topics: readonly NewTopic[],
  { replicationFactor, ...servers }: Omit<KafkaServers, 'brokers'> & { readonly replicationFactor: number },
): Promise<string[]> {
  const clientId = 'create-topics'
  const kafka = connectKafka({ ...servers, brokers, clientId, logger: createLogger(clientId, 'error') })
  try {
    await kafka.start()
    const created = new Set<string>()
    for (let attempt = 1; ; attempt++) {
      const present = await kafka.topics()
      refuseSmaller(topics, present)
      const missing = topics.filter(({ name }) => !present.has(name))
      if (missing.length === 0) return [...created]
      for (const { name } of missing) created.add(name)
      try {
        await kafka.createTopics(missing, replicationFactor)
        return [...created]
      } catch (error) {
        // Another process may create them at the same time, and a busy broker may still create them after it has
        // answered with a time-out.
        if (attempt === ATTEMPTS) throw error
        await pause(attempt * PAUSE_MS)
      }
    }
  } finally {
    await kafka.stop()
  }
}

function refuseSmaller(topics: readonly NewTopic[], present: ReadonlyMap<string, number>): void {
  const small = topics.filter(({ name, partitions }) => (present.get(name) ?? partitions) < partitions)
  if (small.length === 0) return
  const each = small.map(({ name, partitions }) => `${name} has ${present.get(name)} of ${partitions}`)
  throw new Error(`Kafka topics with fewer partitions than declared: ${each.join(', ')}`)
}
