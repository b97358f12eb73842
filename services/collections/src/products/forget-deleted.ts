import type { Sql } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'

const EVERY_MS = 60_000
const BATCH = 10_000

/**
 * Forgets the products that were deleted 90 days ago. By then no older state can come: Kafka has dropped all states of the product
 * before the deletion itself, so a replay brings both or none; and dead letters, which could be sent again, are kept no longer.
 */
export const forgetDeleted = (sql: Sql, logger: Logger) =>
  worker({
    name: 'deleted products',
    everyMs: EVERY_MS,
    logger,
    work: async (stopping) => {
      while ((await forgetSome(sql)) === BATCH && !stopping.aborted);
    },
  })

/** Forgets at most a batch and returns how many. */
export async function forgetSome(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from deleted_product where id = any(array(
      select id from deleted_product where deleted_at < now() - interval '90 days' order by deleted_at limit ${BATCH}
    ))`
  return count
}
