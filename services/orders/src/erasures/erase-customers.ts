import type { Transaction } from '@backoffice/postgres/database.ts'
import { PLAN_EACH_TIME } from '@backoffice/postgres/plan-settings.ts'
import { type WorkInTurn, workInTurn } from '@backoffice/postgres/workspaces-in-turn.ts'
import { eraseAnswers } from './erase-answers.ts'
import { eraseOrders } from './erase-orders.ts'

/** Settings of its connections. An erasure leaves a locked row for later, so that others do not wait. */
export const ERASURE_SETTINGS = { ...PLAN_EACH_TIME, lock_timeout: '1s' }

const EVERY_MS = 1000

/**
 * Removes the personal data of erased customers, a batch of one workspace after the other (OP-130). A batch is a
 * transaction: a process that ends loses no more than one.
 */
export const eraseCustomers = (options: Pick<WorkInTurn, 'db' | 'worker' | 'logger'>) =>
  workInTurn({
    ...options,
    name: 'erasures',
    everyMs: EVERY_MS,
    afterRoundMs: 0,
    // It publishes nothing, so the mode and the trace are of no use.
    waiting: () => options.worker.sql`
      select workspace_id as "workspaceId", true as livemode, '' as traceparent
      from customer_erasure where stage <> 'DONE'`,
    work: (tx) => eraseBatch(tx, new Date()),
  })

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
