import type { Sql } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { countGivenUp } from '../results/note-attempt.ts'
import { deleteExpiredCounts, deleteExpiredDays, mergeCounts } from './delivery-counts.ts'

const HOUR_MS = 3_600_000
/** The pause after a failure, in milliseconds: a step gets no lock while another transaction reads the table. */
const AGAIN_MS = 60_000
/** Rows changed by one transaction. */
const BATCH_SIZE = 1000

/**
 * Keeps 30 days of events, deliveries and attempts, by the database's clock (migration 0011). Every hour it adds the
 * missing partitions of a week ahead and drops the expired ones. Each step is a transaction with a short lock timeout;
 * it may fail for days without harm. `sql` has the worker role.
 */
export const dailyPartitions = (sql: Sql, logger: Logger) =>
  worker({
    name: 'daily partitions',
    everyMs: HOUR_MS,
    logger,
    work: async (stopping) => {
      try {
        await maintainPartitions(sql, logger, stopping)
      } catch (error) {
        logger.warn({ err: error }, 'could not maintain the daily partitions')
        return AGAIN_MS
      }
    },
  })

/** Runs the steps that are due until none is left or `stopping` aborts. Of several replicas the first does the work. */
export async function maintainPartitions(
  sql: Sql,
  logger: Logger,
  stopping = new AbortController().signal,
): Promise<void> {
  const repeat = async (step: () => Promise<boolean>) => {
    while (!stopping.aborted && (await step()));
  }
  await repeat(() => addMissingPartition(sql))
  await repeat(() => endExpiredDeliveries(sql, logger))
  await repeat(async () => (await deleteExpiredCounts(sql)) > 0)
  await repeat(() => dropExpiredPartition(sql, logger))
  await repeat(() => deleteExpiredRows(sql))
  await repeat(() => mergeCounts(sql))
  await repeat(async () => (await deleteExpiredDays(sql)) > 0)
}

async function addMissingPartition(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ added: boolean }]>`select add_missing_partition() as added`
  return row.added
}

/** Ends PENDING deliveries of expired days as FAILED, and counts them, before a drop: they waited for 30 days. */
async function endExpiredDeliveries(sql: Sql, logger: Logger): Promise<boolean> {
  const [row] = await sql<[{ givenUp: number; isMore: boolean }]>`
    select given_up as "givenUp", is_more as "isMore" from end_expired_deliveries(${BATCH_SIZE}::integer)`
  if (row.givenUp > 0) {
    countGivenUp(row.givenUp)
    logger.warn({ deliveries: row.givenUp }, 'deliveries that waited for 30 days are FAILED')
  }
  return row.isMore
}

async function dropExpiredPartition(sql: Sql, logger: Logger): Promise<boolean> {
  const [row] = await sql<[{ dropped: string | null }]>`select drop_expired_partition() as dropped`
  if (row.dropped !== null) logger.info({ partition: row.dropped }, 'dropped an expired partition')
  return row.dropped !== null
}

async function deleteExpiredRows(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ deleted: number }]>`select delete_expired_rows(${BATCH_SIZE}::integer) as deleted`
  return row.deleted >= BATCH_SIZE
}
