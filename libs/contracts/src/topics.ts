import { TOPICS, type Topic } from './events.ts'
import { LIMITS } from './limits.ts'
import { consumersOf, deadLetterTopic, SERVICE_NAMES, SERVICES, TOPICS_FROM_OUTSIDE } from './services.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** Never changed: another number would move keys to other partitions. */
const PARTITIONS = 6

const retained = (days: number) => ({
  'cleanup.policy': 'delete',
  'retention.ms': String(days * DAY_MS),
  // Without it, a limit of the brokers would delete records before their time.
  'retention.bytes': '-1',
  'max.message.bytes': String(LIMITS.recordBytes),
})

/** Keeps the newest record of each key, and tombstones for a week: a reader that starts over has that long. */
const compacted = {
  'cleanup.policy': 'compact',
  'delete.retention.ms': String(7 * DAY_MS),
  'max.message.bytes': String(LIMITS.recordBytes),
}

const consumers = SERVICE_NAMES.flatMap(consumersOf)
const published = SERVICE_NAMES.flatMap((name): readonly Topic[] => SERVICES[name].publishes)

const topic = (name: Topic | `${string}.dead-letters`, config: Readonly<Record<string, string>>) => ({
  name,
  partitions: PARTITIONS,
  config,
  /** The consumer groups that read it. */
  readers: consumers.filter(({ topics }) => topics.includes(name)).map((consumer) => consumer.name),
})

/** Every topic, as it is created: those that services publish to, those from outside, and the dead letters. */
export const topics = [
  ...[...new Set([...published, ...TOPICS_FROM_OUTSIDE])].map((name) =>
    topic(name, name === TOPICS.catalogProducts ? compacted : retained(7)),
  ),
  // Long enough for an operator to examine what a consumer could not process.
  ...consumers.map(({ name }) => topic(deadLetterTopic(name), retained(90))),
]
