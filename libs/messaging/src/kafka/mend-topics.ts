import { type DeclaredTopic, END, type Kafka } from './kafka-connection.ts'
import type { Difference } from './topic-differences.ts'

/**
 * Changes what differs, as far as that is safe. `declared` are all topics, since their readers are in the processes
 * that publish. Returns what was changed and what is left, with the reason.
 */
export async function mendTopics(kafka: Kafka, declared: readonly DeclaredTopic[], found: readonly Difference[]) {
  const [mended, left]: [Difference[], Difference[]] = [[], []]
  const byConfig = found.filter(({ mend }) => mend === 'config')
  for (const [topic, own] of Map.groupBy(byConfig, ({ topic }) => topic)) {
    const settings = new Set(own.map(({ setting }) => setting))
    const config = Object.entries(topic.config).filter(([name]) => settings.has(name))
    await kafka.configureTopic(topic.name, Object.fromEntries(config))
    mended.push(...own)
  }
  for (const difference of found.filter(({ mend }) => mend !== 'config')) {
    const { topic, mend, remedy } = difference
    const reason = mend === 'partitions' ? await reasonAgainstPartitions(kafka, topic, declared) : remedy
    if (reason === undefined) await kafka.addPartitions(topic.name, topic.partitions)
    if (reason === undefined) mended.push(difference)
    else left.push({ ...difference, remedy: reason })
  }
  return { mended, left }
}

/**
 * Why more partitions would bring the records of a key out of their order; undefined when they would not. With more
 * partitions a key has another one. A reader could take its new record before an old one that is unread. A process that
 * publishes learns of new partitions up to five minutes late, and a compacted topic would keep the old state for ever.
 */
async function reasonAgainstPartitions(
  kafka: Kafka,
  topic: DeclaredTopic,
  declared: readonly DeclaredTopic[],
): Promise<string | undefined> {
  const groups = [...new Set(declared.flatMap(({ readers = [] }) => readers))]
  const members = groups.length === 0 ? new Map<string, number>() : await kafka.countMembers(groups)
  const running = groups.filter((name) => members.get(name) !== 0)
  if (running.length > 0) return `stop all services first: ${running.join(', ')} run`
  if (await isEmpty(kafka, topic.name)) return undefined
  const { readers = [], config } = topic
  if (config['cleanup.policy'] === 'compact') return 'it keeps records for ever: delete the topic, and repeat'
  if (readers.length === 0) return 'it has records, and no group says whether they are read'
  for (const group of readers) {
    const unread = (await kafka.positions(group, [topic.name])).reduce((sum, { lag }) => sum + lag, 0)
    if (unread > 0) return `${group} has not read ${unread} records: start the services, wait for them, stop and repeat`
  }
  return undefined
}

const FIRST = new Date(1)

async function isEmpty(kafka: Kafka, topic: string): Promise<boolean> {
  const ends = await kafka.offsetsAt([topic], END)
  const begins = await kafka.offsetsAt([topic], FIRST)
  return [...begins].every(([partition, begin]) => begin === ends.get(partition))
}
