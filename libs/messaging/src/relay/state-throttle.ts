import { setTimeout as pause } from 'node:timers/promises'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { consumersOf, SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { Kafka } from '../kafka/kafka-connection.ts'
import type { OutboxRow } from './outbox-rows.ts'

/** The topic of states: an import publishes as many at once as it has rows. */
const STATES = TOPICS.catalogProducts
const GROUPS = SERVICE_NAMES.flatMap(consumersOf).filter(({ topics }) => topics.some((topic) => topic === STATES))

/** How far the consumers of states are behind, all partitions together. */
export interface StateBacklog {
  /** The records that the slowest consumer has not processed. */
  readonly lag: number
  /** Grows with every record that is processed. */
  readonly processed: number
}

/** How long a measured backlog counts. */
const PERIOD_MS = 200
/** How long a round waits for a measurement: the events that it has read wait as well. */
const MEASURED_WITHIN_MS = 300
/** The states that a workspace may publish in a period without being throttled: enough for the changes of requests. */
const FREE_STATES = 50
/** From this lag on, heavy workspaces pause. About a second of work, and a full transaction for each partition. */
const PAUSE_FROM_LAG = 2000
/** A workspace counts as active for so long after its last row. */
const ACTIVE_MS = 60_000
/** After so long without progress the consumers may be down. Then nothing pauses: records wait better in Kafka. */
const STALLED_MS = 30_000

/**
 * Throttles workspaces with many states. Consumers process the records of a partition in order, so a state waits for
 * all that were published before it, while the outbox serves workspaces round robin (decision 027). A workspace with
 * many states publishes as fast as the consumers process, while other workspaces are active; alone, it publishes as
 * fast as it can.
 */
export function stateThrottle(measure: () => Promise<StateBacklog>, logger: Logger, now = () => performance.now()) {
  const seenAt = new Map<string, number>()
  let sent = new Map<string, number>()
  let heavy = new Set<string>()
  let paused: string[] = []
  let periodEndsAt = 0
  let lag: number | undefined
  let [lastLag, measuring]: [number, Promise<void> | undefined] = [0, undefined]
  let progress = { processed: -1, at: now() }

  const measureOnce = async () => {
    try {
      const backlog = await measure()
      if (backlog.processed !== progress.processed) progress = { processed: backlog.processed, at: now() }
      lastLag = backlog.lag
    } catch (error) {
      logger.warn({ err: error }, 'could not measure how far the consumers of states are')
      lastLag = 0
    }
    measuring = undefined
  }
  /** The lag; the last one when Kafka is slow, and 0 while it cannot be measured or the consumers make no progress. */
  const measured = async () => {
    if (measuring === undefined) {
      measuring = measureOnce()
      await Promise.race([measuring, pause(MEASURED_WITHIN_MS, undefined, { ref: false })])
    }
    return now() - progress.at > STALLED_MS ? 0 : lastLag
  }
  const beginPeriod = () => {
    for (const [workspace, at] of seenAt) if (now() - at > ACTIVE_MS) seenAt.delete(workspace)
    // A workspace stays heavy until a period in which it did not pause and published at most FREE_STATES.
    heavy = new Set([...heavy].filter((workspace) => paused.includes(workspace) || isHeavy(workspace)))
    sent = new Map()
    paused = []
    lag = undefined
    periodEndsAt = now() + PERIOD_MS
  }
  const isHeavy = (workspace: string) => (sent.get(workspace) ?? 0) > FREE_STATES

  return {
    /** The workspaces that publish no states for now. */
    async paused(): Promise<readonly string[]> {
      if (now() >= periodEndsAt) beginPeriod()
      if (heavy.size === 0 || seenAt.size <= 1) return []
      if (lag === undefined) {
        lag = await measured()
        periodEndsAt = now() + PERIOD_MS
      }
      const sentByHeavy = [...heavy].reduce((sum, workspace) => sum + (sent.get(workspace) ?? 0), 0)
      if (lag + sentByHeavy >= PAUSE_FROM_LAG) paused = [...heavy]
      return paused
    },
    /** Counts the rows of a round, of any topic. */
    count(rows: readonly Pick<OutboxRow, 'workspace_id' | 'topic'>[]): void {
      for (const { workspace_id, topic } of rows) {
        seenAt.set(workspace_id, now())
        if (topic !== STATES) continue
        sent.set(workspace_id, (sent.get(workspace_id) ?? 0) + 1)
        if (isHeavy(workspace_id)) heavy.add(workspace_id)
      }
    },
    /** How long the present pauses last, in milliseconds; `Infinity` when there are none. */
    pausedForMs: () => (paused.length > 0 ? Math.max(periodEndsAt - now(), 0) : Number.POSITIVE_INFINITY),
  }
}

export type StateThrottle = ReturnType<typeof stateThrottle>

/** How far the consumers of states are behind. */
export async function backlogOfStates(kafka: Pick<Kafka, 'positions'>): Promise<StateBacklog> {
  const backlogs = await Promise.all(
    GROUPS.map(async ({ name }) => {
      const positions = await kafka.positions(name, [STATES])
      // A group that has never processed a record is not deployed yet. Its lag does not count: it will read everything.
      if (!positions.some(({ hasBegun }) => hasBegun)) return { lag: 0, processed: 0 }
      const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
      return { lag: sum(positions.map(({ lag }) => lag)), processed: sum(positions.map(({ offset }) => offset)) }
    }),
  )
  return {
    lag: Math.max(0, ...backlogs.map(({ lag }) => lag)),
    processed: backlogs.reduce((sum, { processed }) => sum + processed, 0),
  }
}
