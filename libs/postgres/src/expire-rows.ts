import type { Logger } from '@backoffice/runtime/logger.ts'
import { inBatches, worker } from '@backoffice/runtime/worker.ts'
import type { Database } from './database.ts'
import { refuseWrongClock } from './database-clock.ts'

interface Expiry {
  readonly name: string
  readonly everyMs: number
  /** Rows that a batch deletes, at most. */
  readonly batchSize: number
  /** Deletes a batch, and returns its number. */
  deleteBatch(): Promise<number>
}

/** A worker that deletes what is old, in batches; nothing while a clock is wrong (OP-302). */
export const expireRows = (db: Database, logger: Logger, { name, everyMs, batchSize, deleteBatch }: Expiry) =>
  worker({
    name,
    everyMs,
    logger,
    async work(stopping) {
      await refuseWrongClock(db.sql)
      await inBatches(batchSize, deleteBatch)(stopping)
    },
  })
