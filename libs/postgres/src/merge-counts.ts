import type { Logger } from '@backoffice/runtime/logger.ts'
import { inBatches, worker } from '@backoffice/runtime/worker.ts'
import type { Database, Sql } from './database.ts'

const EVERY_MS = 1000
const BATCH_SIZE = 5000

/**
 * Merges the changes in a schema's tables of counts (`call merge_changes_of(…)` in their migrations), one replica at a
 * time. `db` connects as the worker role.
 */
export const mergeCounts = (db: Database, logger: Logger, tables: readonly string[]) =>
  worker({
    name: 'counts',
    everyMs: EVERY_MS,
    logger,
    async work(stopping) {
      // At the same time: a table that fails, or always gets more changes, holds up no other.
      const merging = tables.map((table) => mergeTable(db.sql, table)(stopping))
      const failed = (await Promise.allSettled(merging)).find(({ status }) => status === 'rejected')
      if (failed?.status === 'rejected') throw failed.reason
    },
  })

/** The work of a worker that merges a table's changes until a batch is not full: more may come all the time. */
export const mergeTable = (sql: Sql, table: string) => inBatches(BATCH_SIZE, () => mergeBatch(sql, table))

/** Merges one batch of a table's changes and returns their number. */
export async function mergeBatch(sql: Sql, table: string): Promise<number> {
  const [{ merged }] = await sql<[{ merged: number }]>`select ${sql(`merge_${table}`)}(${BATCH_SIZE}) as merged`
  return merged
}
