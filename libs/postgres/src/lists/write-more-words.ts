import type { Transaction } from '../database.ts'
import { type WorkInTurn, workInTurn } from '../workspaces-in-turn.ts'

const EVERY_MS = 60_000
const BATCH_SIZE = 200

type Table = 'customer' | 'product'

/**
 * Writes the words of rows that were written before there were such words (OP-220), a batch of one workspace after the
 * other. A trigger computes them, and changes the search with them.
 */
export const writeMoreWords = (table: Table, options: Pick<WorkInTurn, 'db' | 'worker' | 'logger'>) =>
  workInTurn({
    ...options,
    name: `words of ${table}s`,
    everyMs: EVERY_MS,
    afterRoundMs: 0,
    // It publishes nothing, so the mode and the trace are of no use.
    waiting: () => options.worker.sql`
      select workspace_id as "workspaceId", true as livemode, '' as traceparent from ${options.worker.sql(table)}
      where words_version is null`,
    work: (tx) => writeBatch(tx, table),
  })

/** Writes those of one batch; returns false when there is none, or when all are locked. */
export async function writeBatch(tx: Transaction, table: Table): Promise<boolean> {
  const { count } = await tx`
    update ${tx(table)} set words_version = 1
    where workspace_id = ${tx.context.workspaceId} and id = any(array(
      select id from ${tx(table)} where workspace_id = ${tx.context.workspaceId} and words_version is null
      order by id limit ${BATCH_SIZE} for no key update skip locked
    ))`
  return count > 0
}
