import type { Sql } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'

const HOUR_MS = 3_600_000
/** After a failure: while others work with the tables, adding and dropping partitions may not get its turn. */
const AGAIN_MS = 10_000

/**
 * Keeps 30 days of events, deliveries and attempts (migration 0004): every hour adds the partitions of the days to come and drops
 * those that are over. Partitions are there a week ahead, so it may fail for days. `sql` is of the worker role.
 */
export const dailyPartitions = (sql: Sql, logger: Logger) =>
  worker({
    name: 'daily partitions',
    everyMs: HOUR_MS,
    logger,
    work: async () => {
      try {
        await maintainPartitions(sql, new Date())
        await mergeCounts(sql, new Date())
      } catch (error) {
        logger.warn({ err: error }, 'could not maintain the daily partitions')
        return AGAIN_MS
      }
    },
  })

/** Adds and drops partitions as of `now`; does nothing where nothing is to be done. */
export async function maintainPartitions(sql: Sql, now: Date): Promise<void> {
  await sql`select maintain_partitions(${now.toISOString().slice(0, 10)}::date)`
}

/** Adds the shards of older hours' counts together, since hardly anything changes them any more. */
export async function mergeCounts(sql: Sql, now: Date): Promise<void> {
  await sql`select merge_delivery_counts(${new Date(now.getTime() - 2 * HOUR_MS)})`
}
