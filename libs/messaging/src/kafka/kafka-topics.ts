import { retry } from '@backoffice/runtime/retry.ts'
import kafkajs, { type Admin } from 'kafkajs'
import type { DeclaredTopic, ExistingTopic, Kafka } from './kafka-connection.ts'
import type { ReconnectingClient } from './reconnecting-client.ts'

const { ConfigResourceTypes, ConfigSource } = kafkajs

const LEADERS_WITHIN_MS = 30_000
const SPREAD_TRIES = 10
const PAUSE_MS = 100
const LOADING = new Set(['NOT_COORDINATOR_FOR_GROUP', 'GROUP_LOAD_IN_PROGRESS', 'GROUP_COORDINATOR_NOT_AVAILABLE'])

/** What a connection asks of brokers about topics as a whole. `prefix` is before their names. */
export const topicRequests = (
  admin: ReconnectingClient<Admin>,
  prefix: string,
): Pick<Kafka, 'topics' | 'createTopics' | 'configureTopic' | 'addPartitions' | 'countMembers'> => ({
  topics: (names) =>
    whileTopicsSpread(() =>
      admin.use(async (open) => {
        const wanted = new Set(names.map((name) => prefix + name))
        const { topics } = await open.fetchTopicMetadata()
        const present = topics.filter(({ name }) => wanted.has(name))
        const configs = await configsOf(
          open,
          present.map(({ name }) => name),
        )
        return new Map(
          present.map(({ name, partitions }): [string, ExistingTopic] => {
            const config = Object.fromEntries(
              (configs.get(name) ?? []).map((each) => [each.configName, each.configValue]),
            )
            const replicas = Math.min(...partitions.map((partition) => partition.replicas.length))
            return [name.slice(prefix.length), { partitions: partitions.length, replicas, config }]
          }),
        )
      }),
    ),

  async createTopics(topics) {
    const wanted = topics.map(({ name, partitions, replicas, config }) => ({
      topic: prefix + name,
      numPartitions: partitions,
      replicationFactor: replicas,
      configEntries: entriesOf(config),
    }))
    await admin.use(async (open) => {
      await open.createTopics({ topics: wanted, waitForLeaders: false })
      await untilPartitionsAreLed(open, new Map(wanted.map(({ topic, numPartitions }) => [topic, numPartitions])))
    })
  },

  async configureTopic(name, config) {
    await admin.use(async (open) => {
      // The request replaces all settings of the topic, so it repeats the others.
      const own = (await configsOf(open, [prefix + name])).get(prefix + name) ?? []
      const others = own.filter(({ configSource }) => configSource === ConfigSource.TOPIC_CONFIG)
      const kept = Object.fromEntries(others.map(({ configName, configValue }) => [configName, configValue]))
      const configEntries = entriesOf({ ...kept, ...config })
      const resources = [{ type: ConfigResourceTypes.TOPIC, name: prefix + name, configEntries }]
      await open.alterConfigs({ validateOnly: false, resources })
      await untilInForce(open, prefix + name, config)
    })
  },

  async addPartitions(name, count) {
    const topic = prefix + name
    await admin.use(async (open) => {
      await open.createPartitions({ topicPartitions: [{ topic, count }] })
      await untilPartitionsAreLed(open, new Map([[topic, count]]))
    })
  },

  async countMembers(groups) {
    const { groups: described } = await whileGroupsLoad(() =>
      admin.use((open) => open.describeGroups(groups.map((name) => prefix + name))),
    )
    return new Map(described.map(({ groupId, members }) => [groupId.slice(prefix.length), members.length]))
  },
})

const entriesOf = (config: DeclaredTopic['config']) => Object.entries(config).map(([name, value]) => ({ name, value }))

/** The settings of each topic that are in force. */
async function configsOf(open: Admin, topics: readonly string[]) {
  if (topics.length === 0) return new Map<string, never>()
  const wanted = topics.map((name) => ({ type: ConfigResourceTypes.TOPIC, name }))
  const { resources } = await open.describeConfigs({ resources: wanted, includeSynonyms: false })
  return new Map(resources.map(({ resourceName, configEntries }) => [resourceName, configEntries]))
}

/** Resolves once a broker answers these settings: it learns of them some milliseconds after they are written. */
async function untilInForce(open: Admin, topic: string, config: DeclaredTopic['config']): Promise<void> {
  const deadline = performance.now() + LEADERS_WITHIN_MS
  const ask = async () => {
    const own = (await configsOf(open, [topic])).get(topic) ?? []
    const values = new Map(own.map(({ configName, configValue }) => [configName, configValue]))
    const late = Object.entries(config).filter(([name, value]) => values.get(name) !== value)
    if (late.length > 0) throw new Error(`${topic}: ${late.map(([name]) => name).join(', ')} are not in force`)
  }
  await retry(ask, () => (performance.now() > deadline ? undefined : PAUSE_MS))
}

/** Resolves once so many partitions have leaders. kafkajs' own wait fails at a broker that knows no new topic yet. */
async function untilPartitionsAreLed(open: Admin, counts: ReadonlyMap<string, number>): Promise<void> {
  const deadline = performance.now() + LEADERS_WITHIN_MS
  const names = [...counts.keys()]
  const ask = async () => {
    const { topics } = await open.fetchTopicMetadata({ topics: names })
    const areLed = topics.every(
      ({ name, partitions }) =>
        partitions.length >= (counts.get(name) ?? 0) && partitions.every(({ leader }) => leader >= 0),
    )
    if (!areLed) throw new Error(`no leader for all partitions of ${names.join(', ')}`)
  }
  await retry(ask, () => (performance.now() > deadline ? undefined : PAUSE_MS))
}

/** Repeats a request about groups: a broker that has started learns some seconds late which ones it coordinates. */
const whileGroupsLoad = <Result>(request: () => Promise<Result>): Promise<Result> => {
  const deadline = performance.now() + LEADERS_WITHIN_MS
  return retry(request, (error) => {
    // kafkajs has tried some times.
    const cause = error instanceof Error ? error.cause : undefined
    const isLoading = cause instanceof Error && 'type' in cause && LOADING.has(String(cause.type))
    return isLoading && performance.now() < deadline ? PAUSE_MS : undefined
  })
}

/** Repeats a request about a new topic: some brokers learn of it some milliseconds later than others. */
const whileTopicsSpread = <Result>(request: () => Promise<Result>): Promise<Result> =>
  retry(request, (error, failures) => {
    const isUnknown = error instanceof Error && 'type' in error && error.type === 'UNKNOWN_TOPIC_OR_PARTITION'
    return isUnknown && failures < SPREAD_TRIES ? PAUSE_MS : undefined
  })
