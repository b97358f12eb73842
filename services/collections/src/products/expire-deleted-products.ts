import type { Sql } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'

const EVERY_MS = 60_000
const BATCH_SIZE = 10_000

/**
 * Removes products from `deleted_product` 90 days after their deletion. No older state can arrive then: Kafka has
 * deleted all states of the product before its tombstone, so a replay has both or neither, and dead letters are not
 * kept longer.
 */
export const expireDeletedProducts = (sql: Sql, logger: Logger) =>
  worker({
    name: 'deleted products',
    everyMs: EVERY_MS,
    logger,
    work: async (stopping) => {
      while ((await expireBatch(sql)) === BATCH_SIZE && !stopping.aborted);
    },
  })

/** Removes at most `BATCH_SIZE` products. Returns how many. */
export async function expireBatch(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from deleted_product where id = any(array(
      select id from deleted_product where deleted_at < now() - interval '90 days' order by deleted_at limit ${BATCH_SIZE}
    ))`
  return count
}
