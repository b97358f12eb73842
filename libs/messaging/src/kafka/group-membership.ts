import { setTimeout as pause } from 'node:timers/promises'
// @ts-expect-error -- it has no types of its own
import KafkajsConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js'
// @ts-expect-error -- it has no types of its own
import KafkajsRunner from 'kafkajs/src/consumer/runner.js'

interface ConsumerGroup {
  readonly cluster: { refreshMetadata(): Promise<void> }
  /** When the last heartbeat was answered, by the clock. */
  lastRequest: number
  joinAndSync(): Promise<void>
  heartbeat(options: { readonly interval: number }): Promise<void>
  recoverFromFetch(error: Error): Promise<void>
}

interface Runner {
  readonly running: boolean
  readonly fetchManager: { stop(): Promise<void> }
  fetch(nodeId: string): Promise<readonly unknown[]>
}

const { prototype: group }: { prototype: ConsumerGroup } = KafkajsConsumerGroup
const { prototype: runner }: { prototype: Runner } = KafkajsRunner
const { joinAndSync, heartbeat, recoverFromFetch } = group
const { fetch } = runner

/** A partition has another leader, or its leader is not known yet. */
const LEADER_ERRORS = new Set([
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  'UNKNOWN_TOPIC_OR_PARTITION',
])
const LEADER_PAUSE_MS = 100

/** Mends how members of kafkajs (2.2.4, consumer) join their group, stay in it and leave it. */
export function mendGroupMembership(): void {
  group.joinAndSync = endAfterFailedJoin
  group.heartbeat = heartbeatByAnyClock
  group.recoverFromFetch = recoverWithoutJoining
  runner.fetch = fetchUntilStopped
}

/**
 * Ends a member that cannot join its group again, so that a new one joins. kafkajs goes on to fetch instead when the
 * group has forgotten the member and the coordinator still loads its groups, or is away: the member processes records
 * beside the group, sends no heartbeats, and all its commits are refused.
 */
function endAfterFailedJoin(this: ConsumerGroup): Promise<void> {
  return joinAndSync.call(this).catch((error: Error) => {
    throw Object.assign(error, { retriable: false })
  })
}

/** Sends heartbeats also after the clock was set back. kafkajs sends none until it shows the time of the last one. */
function heartbeatByAnyClock(this: ConsumerGroup, options: { readonly interval: number }): Promise<void> {
  if (this.lastRequest > Date.now()) this.lastRequest = 0
  return heartbeat.call(this, options)
}

/**
 * Does not join anew beside batches that are processed: another member may get their partitions, and what they mark is
 * committed all the same. When a leader has moved, fetches go on from the new one. When there are more partitions, the
 * member joins once its batches have ended, as it does when the group tells it to.
 */
async function recoverWithoutJoining(this: ConsumerGroup, error: Error): Promise<void> {
  if (error.name === 'KafkaJSStaleTopicMetadataAssignment') {
    throw Object.assign(error, { type: 'REBALANCE_IN_PROGRESS' })
  }
  const isOfLeader = 'type' in error && LEADER_ERRORS.has(String(error.type))
  if (!isOfLeader && error.name !== 'KafkaJSTopicMetadataNotLoaded') return recoverFromFetch.call(this, error)
  await this.cluster.refreshMetadata()
  await pause(LEADER_PAUSE_MS)
}

/**
 * Ends fetches that have begun after the stop: kafkajs begins them when it is stopped while it turns to other brokers.
 * Their loop would not end, nor give way to anything else in the process.
 */
function fetchUntilStopped(this: Runner, nodeId: string): Promise<readonly unknown[]> {
  if (!this.running) void this.fetchManager.stop()
  return fetch.call(this, nodeId)
}
