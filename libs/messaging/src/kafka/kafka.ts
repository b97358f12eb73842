import { createRequire } from 'node:module'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { type Admin, Kafka as KafkaClient, type LogEntry, logLevel, Partitioners, type SASLOptions } from 'kafkajs'
import { compressionOf, installCompression } from './kafka-compression.ts'
import { type GroupMember, type Kafka, type OutgoingRecord, RecordsRefused } from './kafka-connection.ts'
import { joinGroup, STOP_WITHIN_MS } from './kafka-member.ts'
import type { KafkaServers } from './kafka-settings.ts'
import { reconnectingClient } from './reconnecting-client.ts'
import { hintOf, refusedByKafka } from './refused-by-kafka.ts'

export interface KafkaOptions extends KafkaServers {
  /** Shown in the broker's log. */
  readonly clientId: string
  readonly logger: Logger
}

const REFUSALS = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD', 'INVALID_TIMESTAMP'])

/** About 3 s to connect, or to send to a connected broker. All set, since kafkajs has other defaults under test. */
const RETRY = { initialRetryTime: 100, maxRetryTime: 1000, factor: 0.2, multiplier: 2, retries: 5 }
const REACHABLE_WITHIN_MS = 2000
/** Fewer attempts for the first request, so that a refusal is known within REACHABLE_WITHIN_MS. */
const FIRST_RETRY = { ...RETRY, retries: 2 }

interface RequestQueue {
  readonly pending: readonly unknown[]
  scheduleCheckPendingRequests(): void
}

/*
 * kafkajs (2.2.4, network/requestQueue) checks its queue of waiting requests again after `throttledUntil - now`
 * milliseconds. When nothing is throttled, that is far below zero: Node 24 warns (TimeoutNegativeWarning) and fires
 * after 1 ms, again and again on every connection. The check is needed only while a request waits.
 */
const requestQueue: { prototype: RequestQueue } = createRequire(import.meta.url)('kafkajs/src/network/requestQueue')
const schedule = requestQueue.prototype.scheduleCheckPendingRequests
requestQueue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
  if (this.pending.length > 0) schedule.call(this)
}

installCompression()

const LEADERS_WITHIN_MS = 30_000

/**
 * Resolves once every partition of new topics has a leader. kafkajs' own wait fails at the first broker that does not
 * know the topic yet ("This server does not host this topic-partition").
 */
async function untilLeadersAreElected(open: Admin, topics: string[]): Promise<void> {
  const deadline = performance.now() + LEADERS_WITHIN_MS
  for (;;) {
    try {
      const known = await open.fetchTopicMetadata({ topics })
      if (known.topics.every(({ partitions }) => partitions.every(({ leader }) => leader >= 0))) return
      if (performance.now() > deadline) throw new Error(`no leader for all of ${topics.join(', ')}`)
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
    await pause(100)
  }
}

const LEADER_TRIES = 10
const LEADER_PAUSE_MS = 100

/** Repeats a request that a new partition's leader refuses: the broker learns some milliseconds late that it is the leader. */
async function whileLeadersChange<Result>(request: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await request()
    } catch (error) {
      const isWithoutLeader = error instanceof Error && 'type' in error && error.type === 'NOT_LEADER_FOR_PARTITION'
      if (!isWithoutLeader || tries === LEADER_TRIES) throw error
      await pause(LEADER_PAUSE_MS)
    }
  }
}

/** Opens the connection to Kafka; nothing is sent until it is used. */
export function connectKafka({ clientId, logger, ...servers }: KafkaOptions): Kafka {
  const { brokers, prefix = '', tls, sasl } = servers
  const client = (level: logLevel, retry = RETRY) =>
    new KafkaClient({
      brokers: [...brokers],
      clientId,
      ...(tls && { ssl: { rejectUnauthorized: true, ...(tls.ca !== undefined && { ca: tls.ca }) } }),
      ...(sasl && { sasl: { ...sasl } as SASLOptions }),
      retry,
      connectionTimeout: 3000,
      logLevel: level,
      logCreator: () => (entry) => logKafkajs(logger, entry),
    })
  const producer = reconnectingClient(() =>
    // At ERROR: kafkajs warns about limited retries. Here they are right, since a failed producer is not used again.
    client(logLevel.ERROR).producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
    }),
  )
  const admin = reconnectingClient(() => client(logLevel.ERROR).admin({ retry: { retries: 1 } }))
  const members = new Set<GroupMember>()
  let wasReached = false

  // One request at a time: kafkajs gives the sequence numbers of a failed request to the next one. The broker would
  // take that one for a repetition, acknowledge it and drop it.
  let turn: Promise<unknown> = Promise.resolve()
  const produce = (records: readonly OutgoingRecord[]) => {
    const byTopic = Map.groupBy(records, ({ topic }) => prefix + topic)
    const topicMessages = [...byTopic].map(([topic, messages]) => ({ topic, messages }))
    const compression = compressionOf(records)
    const sent = turn.then(() => producer.use((open) => open.sendBatch({ acks: -1, compression, topicMessages })))
    turn = sent.catch(() => undefined)
    return sent.then(() => undefined, refusedOr)
  }

  const reach = async (through: typeof admin) => {
    await through.use((open) => open.describeCluster())
    wasReached = true
  }

  return {
    name: 'kafka',
    produce,
    consume(options) {
      const member = joinGroup({ client: client(logLevel.WARN), prefix, retry: RETRY, logger }, options)
      members.add(member)
      return member
    },
    positions(group, topics) {
      const names = topics.map((name) => prefix + name)
      const read = async (open: Admin) => {
        const committed = await open.fetchOffsets({ groupId: prefix + group, topics: names })
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
      return whileLeadersChange(() => admin.use(read))
    },
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
      const names = wanted.map(({ topic }) => topic)
      await admin.use(async (open) => {
        await open.createTopics({ topics: wanted, waitForLeaders: false })
        await untilLeadersAreElected(open, names)
      })
    },
    async start() {
      const first = reconnectingClient(() => client(logLevel.ERROR, FIRST_RETRY).admin())
      const throwIfRefused = (error: unknown) => {
        const refused = refusedByKafka(error, servers)
        if (refused !== undefined) throw refused
        logger.warn({ err: error }, `Kafka does not answer${hintOf(servers)}`)
      }
      const reached = reach(first).catch(throwIfRefused).finally(first.close)
      await Promise.race([reached, pause(REACHABLE_WITHIN_MS, undefined, { ref: false })])
    },
    async isReady() {
      if (wasReached) return true
      const answered = reach(admin).then(
        () => true,
        () => false,
      )
      return Promise.race([answered, pause(REACHABLE_WITHIN_MS, false, { ref: false })])
    },
    async stop() {
      const closed = async () => {
        await Promise.all([...members].map((member) => member.stop()))
        await turn
        await Promise.all([producer.close(), admin.close()])
      }
      await Promise.race([closed(), pause(STOP_WITHIN_MS, undefined, { ref: false })])
    },
  }
}

/** Logs as warnings: kafkajs logs an error for each attempt that is repeated. */
function logKafkajs(logger: Logger, { namespace, log }: LogEntry): void {
  const { message, timestamp: _, logger: _name, ...details } = log
  logger.warn({ kafkajs: { namespace, ...details } }, message)
}

function refusedOr(error: unknown): never {
  if (error instanceof Error && 'type' in error && REFUSALS.has(String(error.type))) {
    throw new RecordsRefused(error.message, { cause: error })
  }
  throw error
}
