import { causeOf } from '@backoffice/messaging/consumers/error-causes.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import { isStatementTimeout } from '@backoffice/postgres/postgres-errors.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { failsAlone } from '@backoffice/runtime/worker-failures.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import type { EndpointDirectory } from '../endpoints/endpoint-directory.ts'
import { takeFromBacklog, workspacesWithBacklog } from './fan-out-backlog.ts'
import { type DeliveryWriting, insertDeliveries } from './write-deliveries.ts'

export interface BacklogOptions extends DeliveryWriting {
  /** Of the worker role. */
  readonly sql: Sql
  readonly directory: EndpointDirectory
  readonly dispatcher: Pick<Dispatcher, 'beginWriting' | 'owns' | 'hasMany'>
  readonly logger: Logger
}

const NAME = 'fan-out of backlogs'
/** How often to look for what other processes left. */
const LOOK_EVERY_MS = 1000
/** Workspaces that are served at once, at most. */
const BATCH_SIZE = 100
/** A workspace with many deliveries in memory waits at most so long for its next turn, in milliseconds. */
const HELD_BACK_MS = 200
/** How often to look whether it still has many, in milliseconds. */
const LOOK_AGAIN_MS = 20
/**
 * In milliseconds. After a large batch of events the backlog waits so long, since Kafka may have more of them before
 * events of others; at most a second in a row. Then it works for at least as long as it has waited.
 */
const [MORE_TO_COME_MS, INTAKE_FIRST_MS] = [250, 1000]

export type BacklogWorker = ReturnType<typeof backlogWorker>

/**
 * Inserts the deliveries of the events that the fan-out left to the backlog: the workspaces in turn, some deliveries of
 * each at a time. The owner of a workspace's shard does it, as fast as they are sent: those that find no room in memory
 * would have to be read again.
 */
export function backlogWorker({ logger, ...options }: BacklogOptions) {
  const { sql, directory, dispatcher } = options
  /** The workspaces with a backlog, in their turns. */
  const turns = new Set<string>()
  let lookAt = 0
  /** When a workspace had its last turn (`performance.now()`). */
  const servedAt = new Map<string, number>()
  const isHeldBack = (id: string) =>
    dispatcher.hasMany(id) && performance.now() - (servedAt.get(id) ?? Number.NEGATIVE_INFINITY) < HELD_BACK_MS
  /** The intake goes first until then, since then (`performance.now()`). */
  let intakeUntil = 0
  let intakeSince: number | undefined
  /** The backlog has its turns until then: while bursts do not end, it would grow without an end. */
  let turnsUntil = 0
  const serveTogether = (workspaceIds: readonly string[]) =>
    inTransaction(sql, async (tx) => {
      const { events, left } = await takeFromBacklog(tx, directory, workspaceIds)
      await insertDeliveries(options, tx, events)
      return left
    })
  /** Returns the workspaces that may have more. One whose deliveries PostgreSQL refuses holds up no other. */
  const serve = async (workspaceIds: readonly string[], stopping: AbortSignal): Promise<readonly string[]> => {
    try {
      return await serveTogether(workspaceIds)
    } catch (error) {
      if (causeOf(error) === 'WORLD' || isStatementTimeout(error)) throw error
      const left: string[] = []
      for (const id of workspaceIds) {
        if (stopping.aborted) break
        left.push(...((await failsAlone(logger, NAME, { workspace_id: id }, () => serveTogether([id]))) ?? []))
      }
      return left
    }
  }
  const running = worker({
    name: NAME,
    everyMs: LOOK_EVERY_MS,
    logger,
    async work(stopping) {
      const now = performance.now()
      if (intakeUntil > now) return intakeUntil - now
      if (intakeSince !== undefined) turnsUntil = now + Math.min(now - intakeSince, INTAKE_FIRST_MS)
      intakeSince = undefined
      if (performance.now() >= lookAt) {
        lookAt = performance.now() + LOOK_EVERY_MS
        for (const id of await workspacesWithBacklog(sql)) turns.add(id)
      }
      const workspaceIds = [...turns].slice(0, BATCH_SIZE)
      // Deleted before the table is read, so that a workspace that is noted meanwhile stays.
      for (const id of workspaceIds) turns.delete(id)
      const own = workspaceIds.filter((id) => dispatcher.owns(id))
      const waiting = own.filter(isHeldBack)
      for (const id of waiting) turns.add(id)
      const served = own.filter((id) => !waiting.includes(id))
      if (served.length > 0) {
        const left = await serve(served, stopping)
        for (const id of served) servedAt.delete(id)
        for (const id of left) {
          turns.add(id)
          servedAt.set(id, performance.now())
        }
      }
      if (turns.size > waiting.length) return 0
      return Math.max(0, Math.min(lookAt - performance.now(), waiting.length > 0 ? LOOK_AGAIN_MS : LOOK_EVERY_MS))
    },
  })
  return {
    ...running,
    /**
     * To be called when events of these workspaces are in the backlog, once that is committed; with `isBurst` when more
     * events are probably still to be taken in.
     */
    note(workspaceIds: Iterable<string>, isBurst = false): void {
      for (const id of workspaceIds) turns.add(id)
      const now = performance.now()
      if (isBurst && now >= turnsUntil) {
        intakeSince ??= now
        intakeUntil = Math.min(now + MORE_TO_COME_MS, intakeSince + INTAKE_FIRST_MS)
      }
      running.wake()
    },
  }
}
