import type { Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { claimersWithoutLock, freeBacklog } from '../deliveries/dead-claims.ts'
import type { EndpointDirectory } from '../endpoints/endpoint-directory.ts'
import { claimBacklog, takeFromBacklog } from './fan-out-backlog.ts'
import { type DeliveryWriting, insertDeliveries } from './write-deliveries.ts'

export interface BacklogWorkerOptions extends DeliveryWriting {
  /** Of the worker role. */
  readonly sql: Sql
  readonly directory: EndpointDirectory
  readonly logger: Logger
}

/** Inserts the deliveries of the events that the fan-out left to the backlog. */
export interface BacklogWorker extends Component {
  /** To be called when events of these workspaces are in the backlog, once that is committed. */
  note(workspaceIds: Iterable<string>): void
}

/** How often to look for what other processes left. */
const LOOK_EVERY_MS = 1000
/** For how long the events of a workspace wait for room in memory, and how often they ask for it. */
const MEMORY_WITHIN_MS = 500
const MEMORY_ASKED_EVERY_MS = 10
/** Workspaces that are served at once, at most. */
const BATCH_SIZE = 100

/**
 * Serves the workspaces in turn, some deliveries of each at a time. A workspace whose deliveries wait in memory already gives its
 * turn to the others.
 */
export function backlogWorker(options: BacklogWorkerOptions): BacklogWorker {
  const { sql, directory, dispatcher, logger } = options
  /** The workspaces with a backlog in their turns, and until when each waits for room (`performance.now()`). */
  const turns = new Map<string, number>()
  let lookAt = 0
  let claimedBy: number | undefined

  const note = (workspaceIds: Iterable<string>) => {
    for (const id of workspaceIds) if (!turns.has(id)) turns.set(id, performance.now() + MEMORY_WITHIN_MS)
  }
  const next = () => {
    const [mustWait, now] = [dispatcher.backpressure(), performance.now()]
    return [...turns].flatMap(([id, until]) => (now >= until || !mustWait(id) ? [id] : [])).slice(0, BATCH_SIZE)
  }
  const serve = async (claimer: number, workspaceIds: readonly string[]) => {
    // Deleted before the table is read, so that a workspace that is noted meanwhile stays.
    for (const id of workspaceIds) turns.delete(id)
    const { handOver, left } = await inTransaction(sql, async (tx) => {
      const { events, left } = await takeFromBacklog(tx, directory, claimer, workspaceIds)
      return { handOver: await insertDeliveries(options, tx, events), left }
    })
    handOver()
    note(left)
  }
  const look = async (claimer: number) => {
    claimedBy = claimer
    note(await claimBacklog(sql, claimer))
    lookAt = performance.now() + LOOK_EVERY_MS
  }
  const working = worker({
    name: 'fan-out of backlogs',
    everyMs: LOOK_EVERY_MS,
    logger,
    async work() {
      const claimer = dispatcher.claimerId
      if (claimer === undefined) return MEMORY_ASKED_EVERY_MS
      if (performance.now() >= lookAt) await look(claimer)
      const workspaceIds = next()
      if (workspaceIds.length > 0) {
        await serve(claimer, workspaceIds)
        return 0
      }
      return turns.size > 0 ? MEMORY_ASKED_EVERY_MS : Math.max(0, lookAt - performance.now())
    },
  })
  return {
    name: working.name,
    note(workspaceIds) {
      note(workspaceIds)
      working.wake()
    },
    /** Takes over the backlog of ended processes first: later events come behind it (OP-74). */
    async start() {
      await freeBacklog(sql, await claimersWithoutLock(sql))
      if (dispatcher.claimerId !== undefined) await look(dispatcher.claimerId)
      await working.start?.()
    },
    /** Leaves the rest to other processes. */
    async stop() {
      await working.stop?.()
      const left = claimedBy === undefined ? [] : [claimedBy]
      await freeBacklog(sql, left).catch((error: unknown) => {
        logger.warn({ err: error }, 'could not free the backlog: others take it over as that of a dead claimer')
      })
    },
  }
}
