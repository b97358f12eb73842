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

/** How often to look for what other processes left. */
const LOOK_EVERY_MS = 1000
/** For how long the events of a workspace wait for room in memory, and how often they ask for it. */
const MEMORY_WITHIN_MS = 500
const MEMORY_ASKED_EVERY_MS = 10
/** Workspaces that are served at once, at most. */
const BATCH_SIZE = 100

/**
 * Inserts the deliveries of the events that the fan-out left to the backlog: the workspaces in turn, some deliveries of
 * each at a time. A workspace whose deliveries wait in memory already gives its turn to the others.
 */
export class BacklogWorker implements Component {
  readonly name = 'fan-out of backlogs'
  readonly #options: BacklogWorkerOptions
  readonly #worker: ReturnType<typeof worker>
  /** The workspaces with a backlog in their turns, and until when each waits for room (`performance.now()`). */
  readonly #turns = new Map<string, number>()
  #lookAt = 0
  #claimedBy: number | undefined

  constructor(options: BacklogWorkerOptions) {
    this.#options = options
    const { logger } = options
    this.#worker = worker({ name: this.name, everyMs: LOOK_EVERY_MS, logger, work: () => this.#work() })
  }

  /** To be called when events of these workspaces are in the backlog, once that is committed. */
  note(workspaceIds: Iterable<string>): void {
    this.#addTurns(workspaceIds)
    this.#worker.wake()
  }

  /** Takes over the backlog of ended processes first: later events come behind it (OP-74). */
  async start(): Promise<void> {
    const { sql, dispatcher } = this.#options
    await freeBacklog(sql, await claimersWithoutLock(sql))
    if (dispatcher.claimerId !== undefined) await this.#look(dispatcher.claimerId)
    await this.#worker.start?.()
  }

  /** Leaves the rest to other processes. */
  async stop(): Promise<void> {
    await this.#worker.stop?.()
    const left = this.#claimedBy === undefined ? [] : [this.#claimedBy]
    await freeBacklog(this.#options.sql, left).catch((error: unknown) => {
      const message = 'could not free the backlog: others take it over as that of a dead claimer'
      this.#options.logger.warn({ err: error }, message)
    })
  }

  async #work(): Promise<number> {
    const claimer = this.#options.dispatcher.claimerId
    if (claimer === undefined) return MEMORY_ASKED_EVERY_MS
    if (performance.now() >= this.#lookAt) await this.#look(claimer)
    const workspaceIds = this.#next()
    if (workspaceIds.length === 0) {
      return this.#turns.size > 0 ? MEMORY_ASKED_EVERY_MS : Math.max(0, this.#lookAt - performance.now())
    }
    await this.#serve(claimer, workspaceIds)
    return 0
  }

  async #look(claimer: number): Promise<void> {
    this.#claimedBy = claimer
    this.#addTurns(await claimBacklog(this.#options.sql, claimer))
    this.#lookAt = performance.now() + LOOK_EVERY_MS
  }

  #addTurns(workspaceIds: Iterable<string>): void {
    const until = performance.now() + MEMORY_WITHIN_MS
    for (const id of workspaceIds) if (!this.#turns.has(id)) this.#turns.set(id, until)
  }

  #next(): string[] {
    const [mustWait, now] = [this.#options.dispatcher.backpressure(), performance.now()]
    return [...this.#turns].flatMap(([id, until]) => (now >= until || !mustWait(id) ? [id] : [])).slice(0, BATCH_SIZE)
  }

  async #serve(claimer: number, workspaceIds: readonly string[]): Promise<void> {
    // Deleted before the table is read, so that a workspace that is noted meanwhile stays.
    for (const id of workspaceIds) this.#turns.delete(id)
    const { handOver, left } = await inTransaction(this.#options.sql, async (tx) => {
      const { events, left } = await takeFromBacklog(tx, this.#options.directory, claimer, workspaceIds)
      return { handOver: await insertDeliveries(this.#options, tx, events), left }
    })
    handOver()
    this.#addTurns(left)
  }
}
