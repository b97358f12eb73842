import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import { refuseWrongClock } from '@backoffice/postgres/database-clock.ts'
import { mergeTable } from '@backoffice/postgres/merge-counts.ts'
import { isLockTimeout } from '@backoffice/postgres/postgres-errors.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { countGivenUp } from '../results/note-attempt.ts'
import { deleteExpiredCounts, deleteExpiredDays } from './delivery-counts.ts'

const HOUR_MS = 3_600_000
/** The pause after a missed lock, in milliseconds: a step gets none while another transaction reads the table. */
const AGAIN_MS = 60_000
/** Rows changed by one transaction. */
const BATCH_SIZE = 1000

/**
 * Keeps 30 days of events, deliveries and attempts, by the database's clock (migrations 0011 and 0034). Every hour it
 * adds the missing partitions of a week ahead and drops the expired ones. Each step is a transaction with a short lock
 * timeout; it may fail for days without harm. `sql` has the worker role.
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
        if (!isLockTimeout(error)) throw error
        logger.warn({ err: error }, 'the daily partitions wait for a lock')
        return AGAIN_MS
      }
    },
  })

/**
 * Runs the steps that are due until none is left or `stopping` aborts. Of several replicas the first does the work.
 * Throws while a clock is wrong.
 */
export async function maintainPartitions(
  sql: Sql,
  logger: Logger,
  stopping = new AbortController().signal,
): Promise<void> {
  const repeat = async (step: () => Promise<boolean>) => {
    while (!stopping.aborted && (await step()));
  }
  await repeat(() => answerOf<boolean>(sql, sql`add_missing_partition()`))
  // The shards of past hours; nothing while another replica merges.
  await mergeTable(sql, 'delivery_counts')(stopping)
  await refuseWrongClock(sql)
  await repeat(() => endExpiredDeliveries(sql, logger))
  await repeat(async () => (await deleteExpiredCounts(sql)) > 0)
  await repeat(() => dropExpiredPartition(sql, logger))
  await repeat(
    async () => (await answerOf<number>(sql, sql`delete_expired_rows(${BATCH_SIZE}::integer)`)) >= BATCH_SIZE,
  )
  await repeat(async () => (await deleteExpiredDays(sql)) > 0)
}

/** Calls a function of migration 0011. */
async function answerOf<Answer>(sql: Sql, call: SqlPart): Promise<Answer> {
  const [row] = await sql<[{ answer: Answer }]>`select ${call} as answer`
  return row.answer
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
  const partition = await answerOf<string | null>(sql, sql`drop_expired_partition()`)
  if (partition !== null) logger.info({ partition }, 'dropped an expired partition')
  return partition !== null
}
