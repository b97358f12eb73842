import type { Logger } from '@backoffice/runtime/logger.ts'
import { pauseUnless } from '@backoffice/runtime/pause.ts'
import type { Part } from '@backoffice/runtime/process.ts'
import type { Database } from './database.ts'

const EVERY_MS = 60_000
const BATCH = 1000

/** Deletes idempotency keys older than 24 h (OP-08), some at a time; `db` connects as the worker role. */
export function expireIdempotencyKeys(db: Database, logger: Logger): Part {
  const stopping = new AbortController()
  let ended: Promise<void> | undefined
  const run = async () => {
    while (!stopping.signal.aborted) {
      try {
        while ((await deleteExpired(db)) === BATCH && !stopping.signal.aborted);
      } catch (error) {
        logger.warn({ err: error }, 'could not delete expired idempotency keys')
      }
      await pauseUnless(stopping.signal, EVERY_MS)
    }
  }
  return {
    name: 'idempotency keys',
    async start() {
      ended = run()
    },
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

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
