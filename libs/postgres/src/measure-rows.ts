import type { Logger } from '@backoffice/runtime/logger.ts'
import { noteMeasured } from '@backoffice/runtime/measurement-age.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import type postgres from 'postgres'
import type { Database } from './database.ts'
import { inTransaction } from './transaction.ts'

/** Often enough: dashboards show minutes, and alerts fire after minutes. */
const EVERY_MS = 15_000
const STATEMENT_MS = 2000
/** The longest reading, for a server that hangs: a stop waits for it. */
const END_WITHIN_MS = 5000

/** Rows are counted up to this number: a measurement costs the same however many there are. */
export const MEASURED_ROWS = 10_000

type Measure = (tx: postgres.TransactionSql) => Promise<void>

/**
 * Reads gauges from tables, every 15 s in each replica, from its start on. Statements read an index, and
 * `MEASURED_ROWS` rows at most. When one takes more than 2 s, or the server hangs, the gauges keep their values, and
 * the age of the measurement grows. `db` connects as the worker role.
 */
export function measureRows(measurement: string, db: Pick<Database, 'sql'>, logger: Logger, measure: Measure) {
  const measuring = worker({
    name: `measurement of ${measurement}`,
    everyMs: EVERY_MS,
    logger,
    async work() {
      await inTransaction(
        db.sql,
        async (tx) => {
          await tx`select set_config('statement_timeout', ${String(STATEMENT_MS)}, true)`
          await measure(tx)
        },
        { endWithinMs: END_WITHIN_MS },
      )
      noteMeasured(measurement)
    },
  })
  return {
    ...measuring,
    async start() {
      // Not before: a replica may wait long for its migrations.
      noteMeasured(measurement)
      await measuring.start()
    },
  }
}
