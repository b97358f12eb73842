import { TOPICS, type Topic } from './events.ts'
import { LIMITS } from './limits.ts'
import { consumersOf, deadLetterTopic, SERVICE_NAMES, SERVICES, TOPICS_FROM_OUTSIDE } from './services.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** Of each topic on one machine, and of dead letters, which are few. */
export const FEW_PARTITIONS = 6

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

const topic = (
  name: Topic | `${string}.dead-letters`,
  partitions: number,
  config: Readonly<Record<string, string>>,
) => ({
  name,
  partitions,
  config,
  /** The consumer groups that read it. */
  readers: consumers.filter(({ topics }) => topics.includes(name)).map((consumer) => consumer.name),
})

/**
 * Every topic, as it is created: those that services publish to and those from outside, with so many partitions, and
 * the dead letters. Another number later moves keys to other partitions (docs/operations.md, “More partitions”).
 */
export const topics = (partitions: number) => [
  ...[...new Set([...published, ...TOPICS_FROM_OUTSIDE])].map((name) =>
    topic(name, partitions, name === TOPICS.catalogProducts ? compacted : retained(7)),
  ),
  // Long enough for an operator to examine what a consumer could not process.
  ...consumers.map(({ name }) => topic(deadLetterTopic(name), FEW_PARTITIONS, retained(90))),
]
