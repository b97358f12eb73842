import type { Component } from '@backoffice/runtime/component.ts'
import { restAfter } from '@backoffice/runtime/give-way.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { failsAlone } from '@backoffice/runtime/worker-failures.ts'
import { NIL } from 'uuid'
import type { SqlPart } from './comma-separated.ts'
import type { Database, Sql, Transaction, WorkspaceContext } from './database.ts'

/**
 * Finds the workspaces with waiting work: each call returns the next one by its id, undefined after the last one, and
 * then begins anew. `sql` is of the worker role. `waiting` selects the work, with `workspace_id as "workspaceId"`.
 */
export function workspacesInTurn<Row extends { readonly workspaceId: string }>(sql: Sql, waiting: () => SqlPart) {
  let last: string = NIL
  return async (): Promise<Row | undefined> => {
    const [next] = await sql<Row[]>`
      select * from (${waiting()}) as waiting where "workspaceId" > ${last} order by "workspaceId" limit 1`
    last = next?.workspaceId ?? NIL
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
  /** As for workspacesInTurn, with `livemode` and `traceparent`. */
  readonly waiting: () => SqlPart
  /** Works on a batch of the transaction's workspace. Returns whether there was something to do. */
  work(tx: Transaction): Promise<boolean>
}

/** The worker pauses this many times as long as it worked, so that requests of clients come first. */
const PAUSE_FACTOR = 2

/** A worker that does a batch of one workspace after the other. Replicas share the work. */
export function workInTurn({ name, everyMs, afterRoundMs, logger, db, ...options }: WorkInTurn): Component {
  const nextWorkspace = workspacesInTurn<Omit<WorkspaceContext, 'actor'>>(options.worker.sql, options.waiting)
  let hasWorked = false
  return worker({
    name,
    everyMs,
    logger,
    work: async () => {
      const startedAt = performance.now()
      const next = await nextWorkspace()
      if (next === undefined) {
        const pauseMs = hasWorked ? afterRoundMs : undefined
        hasWorked = false
        return pauseMs
      }
      const found = await failsAlone(logger, name, { workspace_id: next.workspaceId }, () =>
        db.inWorkspace({ ...next, actor: name }, (tx) => options.work(tx)),
      )
      if (!found) return found === false ? 0 : undefined
      hasWorked = true
      return restAfter(startedAt, PAUSE_FACTOR)
    },
  })
}
