import { retry } from '@backoffice/runtime/retry.ts'
import type { Admin } from 'kafkajs'
import type { Kafka, Position } from './kafka-connection.ts'
import type { ReconnectingClient } from './reconnecting-client.ts'

const LEADERS_WITHIN_MS = 30_000
const LEADER_TRIES = 10
const LEADER_PAUSE_MS = 100

/** What a connection asks of brokers besides records. `prefix` is before the names of topics and groups. */
export const adminRequests = (
  admin: ReconnectingClient<Admin>,
  prefix: string,
): Pick<Kafka, 'positions' | 'offsetsAt' | 'topics' | 'createTopics'> => ({
  positions: (group, topics) => whileLeadersChange(() => admin.use((open) => positionsOf(open, prefix, group, topics))),

  async offsetsAt(topics, time) {
    const offsets = new Map<string, number>()
    // One request at a time: a request that fails closes the connection, and with it all other requests.
    for (const topic of topics) {
      const found = await whileLeadersChange(() =>
        admin.use((open) => open.fetchTopicOffsetsByTimestamp(prefix + topic, time.getTime())),
      )
      for (const { partition, offset } of found) offsets.set(`${topic}/${partition}`, Number(offset))
    }
    return offsets
  },

  async topics() {
    const { topics } = await admin.use((open) => open.fetchTopicMetadata())
    const ours = topics.filter(({ name }) => name.startsWith(prefix))
    return new Map(ours.map(({ name, partitions }) => [name.slice(prefix.length), partitions.length]))
  },

  async createTopics(topics, replicationFactor) {
    const required = { 'min.insync.replicas': String(Math.max(1, replicationFactor - 1)) }
    const wanted = topics.map(({ name, partitions, config }) => ({
      topic: prefix + name,
      numPartitions: partitions,
      replicationFactor,
      configEntries: Object.entries({ ...config, ...required }).map(([key, value]) => ({ name: key, value })),
    }))
    await admin.use(async (open) => {
      await open.createTopics({ topics: wanted, waitForLeaders: false })
      await untilLeadersAreElected(
        open,
        wanted.map(({ topic }) => topic),
      )
    })
  },
})

async function positionsOf(open: Admin, prefix: string, group: string, names: readonly string[]): Promise<Position[]> {
  const topics = names.map((name) => prefix + name)
  const committed = await open.fetchOffsets({ groupId: prefix + group, topics })
  const perTopic = committed.map(async ({ topic, partitions }) => {
    const ends = new Map((await open.fetchTopicOffsets(topic)).map((end) => [end.partition, end]))
    return partitions.map(({ partition, offset }) => {
      const end = ends.get(partition)
      // A group without a position (-1), or with a position before the first record kept, reads from that record.
      const next = Math.max(Number(offset), Number(end?.low ?? 0))
      const name = `${topic.slice(prefix.length)}/${partition}`
      const lag = Math.max(Number(end?.high ?? 0) - next, 0)
      return { partition: name, offset: next, lag, hasBegun: Number(offset) >= 0 }
    })
  })
  return (await Promise.all(perTopic)).flat()
}

/** Resolves once new topics have leaders. kafkajs' own wait fails at a broker that does not know the topic yet. */
async function untilLeadersAreElected(open: Admin, topics: string[]): Promise<void> {
  const deadline = performance.now() + LEADERS_WITHIN_MS
  const ask = async () => {
    const known = await open.fetchTopicMetadata({ topics })
    const areLed = known.topics.every(({ partitions }) => partitions.every(({ leader }) => leader >= 0))
    if (!areLed) throw new Error(`no leader for all of ${topics.join(', ')}`)
  }
  await retry(ask, () => (performance.now() > deadline ? undefined : LEADER_PAUSE_MS))
}

/** Repeats a request that a new partition's leader refuses: it learns some milliseconds late that it leads. */
const whileLeadersChange = <Result>(request: () => Promise<Result>): Promise<Result> =>
  retry(request, (error, failures) => {
    const isWithoutLeader = error instanceof Error && 'type' in error && error.type === 'NOT_LEADER_FOR_PARTITION'
    return isWithoutLeader && failures < LEADER_TRIES ? LEADER_PAUSE_MS : undefined
  })
