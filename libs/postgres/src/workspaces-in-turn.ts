import type { Component } from '@backoffice/runtime/component.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { NIL } from 'uuid'
import type { SqlPart } from './comma-separated.ts'
import type { Database, Sql, Transaction, WorkspaceContext } from './database.ts'

/** Finds the workspaces with waiting work, one after the other by their ids. */
export class WorkspacesInTurn<Row extends { readonly workspaceId: string }> {
  readonly #sql: Sql
  readonly #waiting: () => SqlPart
  #last: string = NIL

  /** `sql` is of the worker role. `waiting` selects the waiting work, with `workspace_id as "workspaceId"`. */
  constructor(sql: Sql, waiting: () => SqlPart) {
    this.#sql = sql
    this.#waiting = waiting
  }

  /** The next workspace. Undefined after the last one; the call after that begins anew. */
  async next(): Promise<Row | undefined> {
    const [next] = await this.#sql<Row[]>`
      select * from (${this.#waiting()}) as waiting
      where "workspaceId" > ${this.#last} order by "workspaceId" limit 1`
    this.#last = next?.workspaceId ?? NIL
    return next
  }
}

export interface WorkInTurn {
  /** Names the component, and the worker in the log and in records. */
  readonly name: string
  /** The pause while no work waits, in milliseconds. */
  readonly everyMs: number
  /** The pause after a round through the workspaces that has worked, in milliseconds. */
  readonly afterRoundMs: number
  readonly logger: Logger
  /** Connects as the worker role, to find the workspaces; `db` works inside each. */
  readonly worker: Database
  readonly db: Database
  /** As for WorkspacesInTurn, with `livemode` and `traceparent`. */
  readonly waiting: () => SqlPart
  /** Works on a batch of the transaction's workspace. Returns whether there was something to do. */
  work(tx: Transaction): Promise<boolean>
}

/** The worker pauses this many times as long as it worked, so that requests of clients come first. */
const PAUSE_FACTOR = 2

/** A worker that does a batch of one workspace after the other. Replicas share the work. */
export function workInTurn({ name, everyMs, afterRoundMs, logger, db, ...options }: WorkInTurn): Component {
  const workspaces = new WorkspacesInTurn<Omit<WorkspaceContext, 'actor'>>(options.worker.sql, options.waiting)
  let hasWorked = false
  return worker({
    name,
    everyMs,
    logger,
    work: async () => {
      const startedAt = performance.now()
      const next = await workspaces.next()
      if (next === undefined) {
        const pauseMs = hasWorked ? afterRoundMs : everyMs
        hasWorked = false
        return pauseMs
      }
      if (!(await db.inWorkspace({ ...next, actor: name }, (tx) => options.work(tx)))) return 0
      hasWorked = true
      return PAUSE_FACTOR * (performance.now() - startedAt)
    },
  })
}
