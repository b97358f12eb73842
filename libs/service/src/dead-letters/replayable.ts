import { consumersOf, deadLetterTopic, SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import { FEW_PARTITIONS, topics } from '@backoffice/contracts/topics.ts'

const consumers = SERVICE_NAMES.flatMap(consumersOf)
const deadLetterTopics = new Set<string>(consumers.map(({ name }) => deadLetterTopic(name)))
const compacted = new Set(
  topics(FEW_PARTITIONS)
    .filter(({ config }) => config['cleanup.policy'] === 'compact')
    .map(({ name }) => name),
)

/** Why a consumer's dead letters must not be sent again, and what to do instead; undefined where they may. */
export function whyNotReplayable(consumer: string): string | undefined {
  const reader = consumers.find(({ topics }) => topics.some((topic) => topic === deadLetterTopic(consumer)))
  if (reader) return `${reader.name} has ended their imports: import the file again`
  const { topics = [] } = consumers.find(({ name }) => name === consumer) ?? {}
  if (topics.some((topic) => deadLetterTopics.has(topic)))
    return 'among dead letters they would have no source; their imports end by themselves: import the file again'
  const states = topics.find((topic) => compacted.has(topic))
  if (states) return `an old state on ${states} would replace a newer one: rebuild the projection (docs/operations.md)`
  return undefined
}
