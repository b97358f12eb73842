import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { pauseUnless } from '@backoffice/runtime/pause.ts'
import {
  type Cluster,
  type Consumer,
  type ConsumerGroupJoinEvent,
  type EachBatchPayload,
  type IHeaders,
  type Kafka as KafkaClient,
  PartitionAssigners,
  type RetryOptions,
} from 'kafkajs'
import { endFetches, endFetchesIn } from './fetch-sessions.ts'
import { isOfEndedProcess, numberOf, removeFormerMembers } from './former-members.ts'
import { gatherCalls } from './gather-calls.ts'
import type { GroupMember, IncomingBatch, IncomingRecord, MemberOptions } from './kafka-connection.ts'
import { unreadableBatchOf } from './unreadable-batches.ts'

const REJOIN_AFTER_MS = 500
/**
 * How long a marked offset waits for others to be committed with, in milliseconds. A commit costs the broker as much as
 * a fetch. What was marked since the last one comes again after a crash.
 */
const COMMIT_WITHIN_MS = 100
const COMMIT_AGAIN_AFTER_MS = 500
/** Brokers allow no shorter session. */
const LEAST_SESSION_MS = 6000
const HEARTBEAT_MS = 1500
/** Limits the wait for the end of members and requests, which may never come while Kafka is away. */
export const STOP_WITHIN_MS = 8000

const nothing = async () => {}

interface Joining {
  /** Makes a client for each try to join: it may ask another broker first. */
  readonly client: () => KafkaClient
  readonly prefix: string
  readonly retry: RetryOptions
  readonly logger: Logger
}

/** Runs a member until it is stopped. After every crash it joins again: kafkajs restarts only after some crashes. */
export class RunningMember implements GroupMember {
  readonly #joining: Joining
  readonly #options: MemberOptions
  readonly #groupId: string
  readonly #stopping = new AbortController()
  readonly ended: Promise<void>
  #assigned = new Set<string>()
  #cluster: Cluster | undefined
  /** The id of a member that has ended. */
  #memberId: string | undefined

  constructor(joining: Joining, options: MemberOptions) {
    this.#joining = joining
    this.#options = options
    this.#groupId = joining.prefix + options.group
    this.ended = this.#runUntilStopped()
  }

  assigned(): ReadonlySet<string> {
    return this.#assigned
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.race([this.ended, pause(STOP_WITHIN_MS, undefined, { ref: false })])
  }

  /** Removes the members of other processes, by their numbers. */
  async remove(processNumbers: ReadonlySet<number>): Promise<void> {
    if (this.#cluster === undefined || this.#stopping.signal.aborted) return
    await removeFormerMembers(this.#cluster, this.#groupId, ({ clientId }) => processNumbers.has(numberOf(clientId)))
  }

  async #runUntilStopped(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#run().catch((error) => {
        const details = { err: error, group: this.#options.group }
        this.#joining.logger.warn(details, 'group member ended, joining again')
      })
      await pauseUnless(signal, REJOIN_AFTER_MS)
    }
  }

  async #run(): Promise<void> {
    const { topics, from, concurrency, onBatch } = this.#options
    const { prefix } = this.#joining
    const consumer = this.#open((found) => {
      this.#cluster = found
    })
    // Commits the marked offsets of all partitions, whichever batch it is of.
    let commitMarked = nothing
    const commits = gatherCalls(() => commitMarked(), COMMIT_WITHIN_MS, COMMIT_AGAIN_AFTER_MS)
    let isEnding = false
    const { promise: ended, resolve: end } = Promise.withResolvers<Error | undefined>()
    const stop = () => end(undefined)
    consumer.on('consumer.crash', ({ payload }) => end(payload.error))
    this.#stopping.signal.addEventListener('abort', stop)
    consumer.on('consumer.group_join', ({ payload }) => this.#joined(consumer, payload))
    // Before the partitions may go to other members, which begin at what is committed.
    consumer.on('consumer.rebalancing', () => void commits.now())
    try {
      await consumer.connect()
      await consumer.subscribe({ topics: topics.map((topic) => prefix + topic), fromBeginning: true })
      const replaced = this.#memberId
      const isFormer = (member: { memberId: string; clientId: string }) =>
        member.memberId === replaced || isOfEndedProcess(member.clientId)
      if (this.#cluster) await removeFormerMembers(this.#cluster, this.#groupId, isFormer)
      this.#memberId = undefined
      await consumer.run({
        // kafkajs would commit after each batch, and fetch the next one after that.
        autoCommit: false,
        // Whatever is marked is committed when `commitOffsetsIfNecessary` is called.
        autoCommitThreshold: from === undefined ? 1 : null,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: concurrency,
        eachBatch: async (payload) => {
          commitMarked = () => payload.commitOffsetsIfNecessary()
          if (payload.batch.messages.length === 0) {
            payload.resolveOffset(payload.batch.lastOffset())
            commits.soon()
          }
          await onBatch(incoming(payload, prefix, commits.soon, (ms) => this.#coolDown(ms, payload.pause)))
          if (isEnding) await commits.now()
        },
      })
      const error = await ended
      if (error) throw error
    } finally {
      // It would keep this consumer until the member is stopped, and while Kafka is away one follows the other.
      this.#stopping.signal.removeEventListener('abort', stop)
      this.#assigned = new Set()
      isEnding = true
      // After a crash it would wait for a broker that is away.
      if (this.#stopping.signal.aborted) await commits.now()
      // Its connections are closed when Kafka has answered what is still to come, which nobody waits for.
      const stopped = consumer.stop()
      if (this.#cluster) endFetches(this.#cluster)
      this.#cluster = undefined
      await stopped.catch(() => undefined)
      void consumer.disconnect().catch(() => undefined)
      commitMarked = nothing
    }
  }

  #coolDown(ms: number, stopFetching: () => () => void): void {
    setTimeout(stopFetching(), ms).unref()
    if (this.#cluster) endFetchesIn(this.#cluster, ms)
  }

  #open(onCluster: (cluster: Cluster) => void): Consumer {
    const { client, retry } = this.#joining
    return client().consumer({
      groupId: this.#groupId,
      partitionAssigners: [
        (config) => {
          onCluster(config.cluster)
          return PartitionAssigners.roundRobin(config)
        },
      ],
      sessionTimeout: this.#options.sessionMs ?? LEAST_SESSION_MS,
      // At most so often, after an answer. A rebalance is heard of by the next one.
      heartbeatInterval: 500,
      rebalanceTimeout: 30_000,
      // How long the broker waits for a first record before it answers. Each heartbeat waits for an answer.
      maxWaitTimeInMs: HEARTBEAT_MS,
      // Small, since the records of an answer are in memory twice, encoded and decoded, which is up to 16 times larger.
      maxBytes: 512 * 1024,
      maxBytesPerPartition: 256 * 1024,
      allowAutoTopicCreation: false,
      retry: { ...retry, restartOnFailure: async () => false },
    })
  }

  #joined(consumer: Consumer, { memberId, memberAssignment }: ConsumerGroupJoinEvent['payload']): void {
    const { from } = this.#options
    this.#memberId = memberId
    this.#assigned = new Set()
    for (const [topic, partitions] of Object.entries(memberAssignment)) {
      for (const partition of partitions) {
        const name = `${topic.slice(this.#joining.prefix.length)}/${partition}`
        this.#assigned.add(name)
        // The partition is not fetched before this event.
        if (from) consumer.seek({ topic, partition, offset: String(from(name)) })
      }
    }
    this.#options.onAssigned?.(this.#assigned)
  }
}

function incoming(
  { batch, heartbeat, resolveOffset, isRunning }: EachBatchPayload,
  prefix: string,
  commitSoon: () => void,
  coolDown: (ms: number) => void,
): IncomingBatch {
  const topic = batch.topic.slice(prefix.length)
  return {
    partition: `${topic}/${batch.partition}`,
    next: Number(batch.lastOffset()) + 1,
    records: batch.messages.map((message): IncomingRecord => {
      const { key, value, headers, offset, timestamp } = message
      const place = { topic, partition: batch.partition, offset, producedAt: new Date(Number(timestamp)) }
      const unreadable = unreadableBatchOf(message)
      if (unreadable) return { ...place, key: null, value: null, headers: {}, unreadable }
      return { ...place, key: key?.toString() ?? null, value, headers: headersOf(headers) }
    }),
    heartbeat,
    markProcessed({ offset }) {
      resolveOffset(offset)
      commitSoon()
    },
    coolDown,
    isRunning,
  }
}

/** Headers that can be sent again: a value that is null becomes empty, since kafkajs reads one and sends none. */
function headersOf(headers: IHeaders = {}): IncomingRecord['headers'] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const [first, ...others] = [value].flat().map((one) => one ?? Buffer.alloc(0))
      return [name, first !== undefined && others.length > 0 ? [first, ...others] : first]
    }),
  )
}
