import { setTimeout as pause } from 'node:timers/promises'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { connectKafka } from './kafka.ts'
import type { DeclaredTopic, Kafka, NewTopic } from './kafka-connection.ts'
import type { KafkaServers } from './kafka-settings.ts'
import { mendTopics } from './mend-topics.ts'
import { type Difference, differences } from './topic-differences.ts'

const ATTEMPTS = 6
const PAUSE_MS = 500

interface TopicOptions extends Omit<KafkaServers, 'brokers'> {
  /** Copies of every record: 3 in production, 1 on a single broker. A write waits for all of them but one. */
  readonly replicationFactor: number
  /** Whether topics that differ are changed, as far as that is safe. */
  readonly fix?: boolean
}

/**
 * Creates the missing topics, compares the others with what is declared, and returns the names of those created and
 * what was mended. `prefix` goes before every name. Throws one error that names each difference that is left.
 */
export async function createTopics(
  brokers: readonly string[],
  topics: readonly NewTopic[],
  { replicationFactor, fix = false, ...servers }: TopicOptions,
): Promise<{ created: string[]; mended: string[] }> {
  const clientId = 'create-topics'
  const kafka = connectKafka({ ...servers, brokers, clientId, logger: createLogger(clientId, 'error') })
  const declared = topics.map((topic) => declaredTopic(topic, replicationFactor))
  try {
    await kafka.start()
    const created = await createMissing(kafka, declared)
    const present = await kafka.topics(declared.map(({ name }) => name))
    const found = declared.flatMap((topic) => differences(topic, present.get(topic.name)))
    const { mended, left } = fix ? await mendTopics(kafka, declared, found) : { mended: [], left: found }
    if (left.length > 0) throw new Error(refusalOf(left, servers.prefix, fix))
    return { created, mended: mended.map(({ topic, text }) => `${topic.name}: ${text}`) }
  } finally {
    await kafka.stop()
  }
}

/** A topic with the copies of its records. One broker may be away, so a write needs one copy less than there are. */
export function declaredTopic(topic: NewTopic, replicationFactor: number): DeclaredTopic {
  const required = { 'min.insync.replicas': String(Math.max(1, replicationFactor - 1)) }
  return { ...topic, replicas: replicationFactor, config: { ...topic.config, ...required } }
}

async function createMissing(kafka: Kafka, declared: readonly DeclaredTopic[]): Promise<string[]> {
  const created = new Set<string>()
  for (let attempt = 1; ; attempt++) {
    const present = await kafka.topics(declared.map(({ name }) => name))
    const missing = declared.filter(({ name }) => !present.has(name))
    if (missing.length === 0) return [...created]
    for (const { name } of missing) created.add(name)
    try {
      await kafka.createTopics(missing)
      return [...created]
    } catch (error) {
      // Another process may create them at the same time, and a busy broker may still create them after it has
      // answered with a time-out.
      if (attempt === ATTEMPTS) throw error
      await pause(attempt * PAUSE_MS)
    }
  }
}

function refusalOf(left: readonly Difference[], prefix = '', fix: boolean): string {
  const lines = left.map(({ topic, text, remedy }) => `${prefix}${topic.name}: ${text}${remedy && `; ${remedy}`}`)
  const hint = fix || left.every(({ mend }) => mend === undefined) ? '' : '\n`topics --fix` changes what it can.'
  return `Kafka topics differ from what is declared\n  ${lines.join('\n  ')}${hint}`
}
