import type { Database, Transaction, WorkspaceContext } from '@backoffice/postgres/database.ts'
import { PLAN_EACH_TIME } from '@backoffice/postgres/plan-settings.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { eraseAnswers } from './erase-answers.ts'
import { eraseOrders } from './erase-orders.ts'

/**
 * Settings of its connections. An erasure leaves a locked row for later, so that other workspaces do not wait for the
 * lock.
 */
export const ERASURE_SETTINGS = { ...PLAN_EACH_TIME, lock_timeout: '1s' }

const EVERY_MS = 1000
/** The worker pauses this many times as long as it worked. */
const PAUSE_FACTOR = 2

/**
 * Removes the personal data of erased customers, a batch of one workspace after the other (OP-130). `worker` connects
 * as the worker role and finds the workspaces; `db` works inside each. A batch is a transaction: a process that ends
 * loses no more than one.
 */
export function eraseCustomers({ db, worker: workerDb, logger }: { db: Database; worker: Database; logger: Logger }) {
  let last: string | undefined
  let hasWorked = false // since the first workspace
  return worker({
    name: 'erasures',
    everyMs: EVERY_MS,
    logger,
    work: async () => {
      const startedAt = performance.now()
      last = await nextWorkspace(workerDb, last)
      if (last === undefined) {
        const pauseMs = hasWorked ? 0 : EVERY_MS
        hasWorked = false
        return pauseMs
      }
      // It publishes nothing, so the mode and the trace are of no use.
      const context: WorkspaceContext = { workspaceId: last, livemode: true, traceparent: '', actor: 'erasure' }
      if (!(await db.inWorkspace(context, (tx) => eraseBatch(tx, new Date())))) return 0
      hasWorked = true
      return PAUSE_FACTOR * (performance.now() - startedAt)
    },
  })
}

/** The next workspace after `last` with an open erasure; undefined after the last one, and the caller starts again. */
async function nextWorkspace(worker: Database, last: string | undefined): Promise<string | undefined> {
  const [next] = await worker.sql<{ workspace_id: string }[]>`
    select workspace_id from customer_erasure
    where stage <> 'DONE' and workspace_id > ${last ?? '00000000-0000-0000-0000-000000000000'}
    order by workspace_id limit 1`
  return next?.workspace_id
}

/**
 * Works on one batch of the transaction's workspace: some orders of one erased customer, or some answers. Orders come
 * first, so that one pass over the answers serves many customers. Returns false when there is nothing to do, or when
 * all of it is locked.
 */
export async function eraseBatch(tx: Transaction, now: Date): Promise<boolean> {
  const [open] = await tx<{ id: string; stage: 'ORDERS' | 'ANSWERS' }[]>`
    select id, stage from customer_erasure
    where workspace_id = ${tx.context.workspaceId} and stage <> 'DONE'
    order by stage desc, id -- ORDERS, then ANSWERS
    limit 1 for update skip locked`
  if (open === undefined) return false
  if (open.stage === 'ORDERS') return eraseOrders(tx, open.id, now)
  await eraseAnswers(tx, now)
  return true
}
