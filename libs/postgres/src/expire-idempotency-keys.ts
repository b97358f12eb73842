import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import type { Database } from './database.ts'

const EVERY_MS = 60_000
const BATCH = 1000

/** Deletes idempotency keys older than 24 h (OP-08), some at a time; `db` connects as the worker role. */
export const expireIdempotencyKeys = (db: Database, logger: Logger) =>
  worker({
    name: 'idempotency keys',
    everyMs: EVERY_MS,
    logger,
    work: async (stopping) => {
      while ((await deleteExpired(db)) === BATCH && !stopping.aborted);
    },
  })

/** Deletes at most a batch and returns how many. */
export async function deleteExpired(db: Database): Promise<number> {
  const { count } = await db.sql`
    delete from idempotency_key where (workspace_id, key) in (
      select workspace_id, key from idempotency_key
      where created_at < now() - interval '24 hours'
      order by created_at limit ${BATCH}
    )
    -- Said again for a key that was claimed anew while this waited for its row.
    and created_at < now() - interval '24 hours'`
  return count
}
