import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { pauseUnless } from '@backoffice/runtime/pause.ts'
import {
  type Broker,
  type Cluster,
  type EachBatchPayload,
  type Kafka as KafkaClient,
  PartitionAssigners,
  type RetryOptions,
} from 'kafkajs'
import { coalesceCalls } from './coalesce-calls.ts'
import type { GroupMember, IncomingBatch, MemberOptions } from './kafka-connection.ts'

const REJOIN_AFTER_MS = 500
/** Brokers allow no shorter session. */
const LEAST_SESSION_MS = 6000
/** Limits the wait for the end of members and requests, which may never come while Kafka is away. */
export const STOP_WITHIN_MS = 8000

interface Joining {
  readonly client: KafkaClient
  readonly prefix: string
  readonly retry: RetryOptions
  readonly logger: Logger
}

/** Runs a member until it is stopped. After every crash it joins again: kafkajs restarts only after some crashes. */
export function joinGroup({ client, prefix, retry, logger }: Joining, options: MemberOptions): GroupMember {
  const groupId = prefix + options.group
  const stopping = new AbortController()
  let assigned = new Set<string>()
  let memberId: string | undefined

  const run = async () => {
    let cluster: Cluster | undefined
    const consumer = client.consumer({
      groupId,
      partitionAssigners: [
        (config) => {
          cluster = config.cluster
          return PartitionAssigners.roundRobin(config)
        },
      ],
      sessionTimeout: options.sessionMs ?? LEAST_SESSION_MS,
      heartbeatInterval: 1500,
      rebalanceTimeout: 30_000,
      // How long the broker waits for a first record before it answers; a stop waits as long.
      maxWaitTimeInMs: 500,
      // Small, since the records of an answer are in memory twice, encoded and decoded, which is up to 16 times larger.
      maxBytes: 512 * 1024,
      maxBytesPerPartition: 256 * 1024,
      allowAutoTopicCreation: false,
      retry: { ...retry, restartOnFailure: async () => false },
    })
    // Commits the marked offsets of all partitions, whichever batch calls it.
    let commitMarked = async () => {}
    const commit = coalesceCalls(() => commitMarked())
    const ended = new Promise<Error | undefined>((resolve) => {
      consumer.on('consumer.crash', ({ payload }) => resolve(payload.error))
      stopping.signal.addEventListener('abort', () => resolve(undefined), { once: true })
    })
    consumer.on('consumer.group_join', ({ payload }) => {
      memberId = payload.memberId
      assigned = new Set()
      for (const [topic, partitions] of Object.entries(payload.memberAssignment)) {
        for (const partition of partitions) {
          const name = `${topic.slice(prefix.length)}/${partition}`
          assigned.add(name)
          // The partition is not fetched before this event.
          if (options.from) consumer.seek({ topic, partition, offset: String(options.from(name)) })
        }
      }
    })
    try {
      await consumer.connect()
      await consumer.subscribe({ topics: options.topics.map((topic) => prefix + topic), fromBeginning: true })
      if (cluster && memberId) await leaveGroup(cluster, groupId, memberId)
      memberId = undefined
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

/**
 * Removes the member that this one replaces from the group. It could not leave while its broker was away. Until its session
 * expires, the group gives its partitions to no other member. Throws retriable errors of the broker only.
 */
async function leaveGroup(cluster: Cluster, groupId: string, memberId: string): Promise<void> {
  try {
    // The types of kafkajs leave this request out.
    const coordinator = (await cluster.findGroupCoordinator({ groupId })) as Broker & {
      leaveGroup(member: { groupId: string; memberId: string }): Promise<unknown>
    }
    await coordinator.leaveGroup({ groupId, memberId })
  } catch (error) {
    // Other errors are harmless: usually the former member has left, and the group does not know it.
    if (error instanceof Error && 'retriable' in error && error.retriable) throw error
  }
}

function incoming(
  { batch, heartbeat, resolveOffset, pause: stopFetching, isRunning }: EachBatchPayload,
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
    coolDown: (ms) => void setTimeout(stopFetching(), ms).unref(),
    isRunning,
  }
}
