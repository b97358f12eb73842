import type { DeclaredTopic, ExistingTopic } from './kafka-connection.ts'

/** One way in which a topic is not as declared. */
export interface Difference {
  readonly topic: DeclaredTopic
  /** What is different: `retention.ms is 3600000, declared is 604800000`. */
  readonly text: string
  /** What `mendTopics` changes; undefined for what it cannot change. */
  readonly mend?: 'config' | 'partitions'
  /** The setting that differs. */
  readonly setting?: string
  /** What an operator does about it; empty when mending is enough. */
  readonly remedy: string
}

const MIN_IN_SYNC = 'min.insync.replicas'
const COPIES = 'add copies with `kafka-reassign-partitions`'
const MORE = 'Kafka removes no partitions: declare as many'
const FEWER = 'declare as many (KAFKA_PARTITIONS), or add some by docs/operations.md, “More partitions”'

/** How an existing topic differs from what is declared. Settings that are not declared may have any value. */
export function differences(topic: DeclaredTopic, existing: ExistingTopic | undefined): Difference[] {
  // Just created, and this broker does not know it yet.
  if (existing === undefined) return []
  const lacksCopies = existing.replicas < topic.replicas
  const found: Difference[] = Object.entries(topic.config)
    .filter(([name, value]) => existing.config[name] !== value)
    .map(([name, value]) => {
      const text = `${name} is ${existing.config[name]}, declared is ${value}`
      // With the copies there are, a broker that is away would end all writes.
      if (name === MIN_IN_SYNC && lacksCopies) return { topic, text, remedy: 'first add the copies' }
      return { topic, text, setting: name, mend: 'config', remedy: '' }
    })
  if (existing.partitions !== topic.partitions) {
    const text = `has ${existing.partitions} partitions, declared are ${topic.partitions}`
    const isSmaller = existing.partitions < topic.partitions
    found.push(isSmaller ? { topic, text, mend: 'partitions', remedy: FEWER } : { topic, text, remedy: MORE })
  }
  // More copies lose nothing.
  if (lacksCopies)
    found.push({ topic, text: `has ${existing.replicas} copies, declared are ${topic.replicas}`, remedy: COPIES })
  return found
}
