import type { Transaction } from '@backoffice/postgres/database.ts'
import { type WorkInTurn, workInTurn } from '@backoffice/postgres/workspaces-in-turn.ts'

const EVERY_MS = 60_000
const BATCH_SIZE = 200

/**
 * Writes the words of products that were written before there were such words (OP-220), a batch of one workspace after
 * the other. A trigger computes them, and changes the search with them.
 */
export const writeMoreWords = (options: Pick<WorkInTurn, 'db' | 'worker' | 'logger'>) =>
  workInTurn({
    ...options,
    name: 'words of products',
    everyMs: EVERY_MS,
    afterRoundMs: 0,
    // It publishes nothing, so the mode and the trace are of no use.
    waiting: () => options.worker.sql`
      select workspace_id as "workspaceId", true as livemode, '' as traceparent from product where words_version is null`,
    work: writeBatch,
  })

/** Writes those of one batch; returns false when there is none, or when all are locked. */
export async function writeBatch(tx: Transaction): Promise<boolean> {
  const { count } = await tx`
    update product set words_version = 1
    where workspace_id = ${tx.context.workspaceId} and id = any(array(
      select id from product where workspace_id = ${tx.context.workspaceId} and words_version is null
      order by id limit ${BATCH_SIZE} for no key update skip locked
    ))`
  return count > 0
}
