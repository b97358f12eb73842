import { createRequire } from 'node:module'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip, unzip } from 'node:zlib'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { pauseUnless } from '@backoffice/runtime/pause.ts'
import kafkajs, {
  type Admin,
  CompressionTypes,
  type EachBatchPayload,
  Kafka as KafkaClient,
  type LogEntry,
  logLevel,
  Partitioners,
} from 'kafkajs'
import { coalesceCalls } from './coalesce-calls.ts'
import {
  type GroupMember,
  type IncomingBatch,
  type Kafka,
  type MemberOptions,
  type OutgoingRecord,
  RecordsRefused,
} from './kafka-connection.ts'
import { reconnectingClient } from './reconnecting-client.ts'

export interface KafkaOptions {
  readonly brokers: readonly string[]
  /** Shown in the broker's log. */
  readonly clientId: string
  /** Put before the name of every topic and group, so that tests share one broker. */
  readonly prefix?: string
  readonly logger: Logger
}

const REFUSALS = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD', 'INVALID_TIMESTAMP'])

/** About 3 s to connect, or to send to a connected broker. All set, since kafkajs has other defaults under test. */
const RETRY = { initialRetryTime: 100, maxRetryTime: 1000, factor: 0.2, multiplier: 2, retries: 5 }
const REJOIN_AFTER_MS = 500
const REACHABLE_WITHIN_MS = 2000
/** Limits the wait for the end of members and requests, which may never come while Kafka is away. */
const STOP_WITHIN_MS = 8000

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

/**
 * Requests from so many bytes on are compressed, in a thread: kafkajs computes checksums of what it sends byte by byte, about 18 ms for
 * each megabyte, in which requests wait.
 */
const COMPRESSED_FROM_BYTES = 64 * 1024
/** What would shrink further is sent as it is: consumers fetch by compressed bytes, and hold what these become. */
const MOST_SHRINKING = 16
const [compress, decompress] = [promisify(gzip), promisify(unzip)]
kafkajs.CompressionCodecs[CompressionTypes.GZIP] = () => ({
  async compress({ buffer }: { readonly buffer: Buffer }) {
    // The fastest level: it costs less than the checksums.
    const compressed = await compress(buffer, { level: 1 })
    return compressed.length * MOST_SHRINKING < buffer.length ? compress(buffer, { level: 0 }) : compressed
  },
  decompress: (bytes: Buffer) => decompress(bytes),
})

const LED_WITHIN_MS = 30_000

/**
 * Resolves once every partition of new topics has a leader. kafkajs' own wait fails at the first broker that does not
 * know the topic yet ("This server does not host this topic-partition").
 */
async function untilLed(open: Admin, topics: string[]): Promise<void> {
  const deadline = performance.now() + LED_WITHIN_MS
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

/** Repeats a request that no leader answers: one of a new topic is named some milliseconds before it knows that it leads. */
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
export function connectKafka({ brokers, clientId, prefix = '', logger }: KafkaOptions): Kafka {
  const client = (level: logLevel) =>
    new KafkaClient({
      brokers: [...brokers],
      clientId,
      retry: RETRY,
      connectionTimeout: 3000,
      logLevel: level,
      logCreator: () => (entry) => logKafkajs(logger, entry),
    })
  const producer = reconnectingClient(() =>
    // At ERROR: it warns about limited retries, which are right here, since a failed producer is not used again.
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
    const bytes = records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
    const compression = bytes < COMPRESSED_FROM_BYTES ? CompressionTypes.None : CompressionTypes.GZIP
    const sent = turn.then(() => producer.use((open) => open.sendBatch({ acks: -1, compression, topicMessages })))
    turn = sent.catch(() => undefined)
    return sent.then(() => undefined, refusedOr)
  }

  return {
    name: 'kafka',
    produce,
    consume(options) {
      const member = joinGroup(client(logLevel.WARN), prefix, options, logger)
      members.add(member)
      return member
    },
    async positions(group, topics) {
      return admin.use(async (open) => {
        const names = topics.map((name) => prefix + name)
        const committed = await open.fetchOffsets({ groupId: prefix + group, topics: names })
        const perTopic = committed.map(async ({ topic, partitions }) => {
          const ends = new Map((await open.fetchTopicOffsets(topic)).map((end) => [end.partition, end]))
          return partitions.map(({ partition, offset }) => {
            const end = ends.get(partition)
            // A group without a position (-1), or with a position before the first record kept, reads from that record.
            const next = Math.max(Number(offset), Number(end?.low ?? 0))
            const name = `${topic.slice(prefix.length)}/${partition}`
            return { partition: name, offset: next, lag: Math.max(Number(end?.high ?? 0) - next, 0) }
          })
        })
        return (await Promise.all(perTopic)).flat()
      })
    },
    async offsetsAt(topics, time) {
      const offsets = new Map<string, number>()
      // One after the other: a request that fails takes the connection of all.
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
        await untilLed(open, names)
      })
    },
    async isReady() {
      if (wasReached) return true
      const answered = admin
        .use((open) => open.describeCluster())
        .then(
          () => true,
          () => false,
        )
      wasReached = await Promise.race([answered, pause(REACHABLE_WITHIN_MS, false, { ref: false })])
      return wasReached
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

/** Runs a member until it is stopped. After every crash it joins again: kafkajs restarts only after some crashes. */
function joinGroup(client: KafkaClient, prefix: string, options: MemberOptions, logger: Logger): GroupMember {
  const stopping = new AbortController()
  let assigned = new Set<string>()

  const run = async () => {
    const consumer = client.consumer({
      groupId: prefix + options.group,
      // A killed member keeps its partitions this long; the broker allows no less.
      sessionTimeout: 6000,
      heartbeatInterval: 1500,
      rebalanceTimeout: 30_000,
      // How long the broker waits for a first record before it answers; a stop waits as long.
      maxWaitTimeInMs: 500,
      // Small, since the records of an answer are in memory twice, encoded and decoded, which is up to 16 times larger.
      maxBytes: 512 * 1024,
      maxBytesPerPartition: 256 * 1024,
      allowAutoTopicCreation: false,
      retry: { ...RETRY, restartOnFailure: async () => false },
    })
    // Of all partitions together, in whichever batch it is called.
    let commitMarked = async () => {}
    const commit = coalesceCalls(() => commitMarked())
    const ended = new Promise<Error | undefined>((resolve) => {
      consumer.on('consumer.crash', ({ payload }) => resolve(payload.error))
      stopping.signal.addEventListener('abort', () => resolve(undefined), { once: true })
    })
    consumer.on('consumer.group_join', ({ payload }) => {
      assigned = new Set()
      for (const [topic, partitions] of Object.entries(payload.memberAssignment)) {
        for (const partition of partitions) {
          const name = `${topic.slice(prefix.length)}/${partition}`
          assigned.add(name)
          // Comes before the first fetch.
          if (options.from) consumer.seek({ topic, partition, offset: String(options.from(name)) })
        }
      }
    })
    try {
      await consumer.connect()
      await consumer.subscribe({ topics: options.topics.map((topic) => prefix + topic), fromBeginning: true })
      await consumer.run({
        autoCommit: options.from === undefined,
        // Whatever is marked is committed when `commitOffsetsIfNecessary` is called.
        autoCommitThreshold: options.from === undefined ? 1 : null,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: options.concurrency,
        eachBatch: (payload) => {
          commitMarked = () => payload.commitOffsetsIfNecessary()
          return options.onBatch(incoming(payload, prefix, commit))
        },
      })
      const error = await ended
      if (error) throw error
    } finally {
      assigned = new Set()
      await consumer.disconnect().catch(() => undefined)
    }
  }
  const ended = (async () => {
    while (!stopping.signal.aborted) {
      await run().catch((error) =>
        logger.warn({ err: error, group: options.group }, 'group member ended, joining again'),
      )
      await pauseUnless(stopping.signal, REJOIN_AFTER_MS)
    }
  })()
  return {
    assigned: () => assigned,
    async stop() {
      stopping.abort()
      await Promise.race([ended, pause(STOP_WITHIN_MS, undefined, { ref: false })])
    },
  }
}

function incoming(
  { batch, heartbeat, resolveOffset, isRunning }: EachBatchPayload,
  prefix: string,
  commit: () => void,
): IncomingBatch {
  const topic = batch.topic.slice(prefix.length)
  return {
    records: batch.messages.map(({ key, value, headers, offset, timestamp }) => ({
      topic,
      partition: batch.partition,
      offset,
      producedAt: new Date(Number(timestamp)),
      key: key?.toString() ?? null,
      value,
      headers: headers ?? {},
    })),
    heartbeat,
    markProcessed: ({ offset }) => resolveOffset(offset),
    commit,
    isRunning,
  }
}
