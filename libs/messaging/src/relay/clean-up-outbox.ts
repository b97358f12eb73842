import type { Database } from '@backoffice/postgres/database.ts'
import { measureRows } from '@backoffice/postgres/measure-rows.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { gauge } from '@backoffice/runtime/metrics.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import type { Sql } from 'postgres'
import { backlog, deletePublished } from './outbox-rows.ts'

const EVERY_MS = 5000
/** How often the log repeats that rows are refused. */
const LOG_REFUSED_EVERY_MS = 60_000
/** How long published rows are kept for inspection. */
const KEEP_PUBLISHED_MS = 60 * 60 * 1000

const waitingRows = gauge('outbox_waiting_rows', 'Outbox rows that wait to be published, counted up to ten thousand')
const waitingSeconds = gauge('outbox_oldest_waiting_seconds', 'Age of the oldest outbox row that waits to be published')
const heldRows = gauge(
  'outbox_held_rows',
  'Outbox rows that wait for the schema or the topic of their records, or behind such a row',
)
const refusedRows = gauge(
  'outbox_refused_rows',
  'Outbox rows that are not published until an operator sends them again; more than none is an alarm',
)

/** Measures the outbox, in every process. The leader logs that rows are refused. */
export function measureOutbox(db: Pick<Database, 'sql'>, schema: string, logger: Logger, isLeading: () => boolean) {
  let loggedAt = Number.NEGATIVE_INFINITY
  const logRefused = (refused: number) => {
    if (refused === 0 || !isLeading() || performance.now() - loggedAt < LOG_REFUSED_EVERY_MS) return
    loggedAt = performance.now()
    logger.error(
      { schema, refused },
      'refused outbox rows wait for an operator: npx backoffice outbox refused <service>',
    )
  }
  return measureRows('outbox', db, logger, async (tx) => {
    const { waiting, seconds, held, refused } = await backlog(tx)
    waitingRows.record(waiting, { schema })
    waitingSeconds.record(seconds, { schema })
    heldRows.record(held, { schema })
    refusedRows.record(refused, { schema })
    logRefused(refused)
  })
}

/** The leader deletes rows that were published long ago. */
export const cleanUpOutbox = (sql: Sql, logger: Logger, isLeading: () => boolean) =>
  worker({
    name: 'outbox clean-up',
    everyMs: EVERY_MS,
    logger,
    async work(stopping) {
      while (isLeading() && !stopping.aborted && (await deletePublished(sql, KEEP_PUBLISHED_MS)));
    },
  })
