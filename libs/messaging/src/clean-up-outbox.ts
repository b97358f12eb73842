import type { Logger } from '@backoffice/runtime/logger.ts'
import { meter } from '@backoffice/runtime/metrics.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import type { Sql } from 'postgres'
import { backlog, deletePublished } from './outbox-rows.ts'

const EVERY_MS = 5000
/** How long published rows are kept for inspection. */
const KEEP_PUBLISHED_MS = 60 * 60 * 1000

const waitingRows = meter('relay').createGauge('outbox_waiting_rows', {
  description: 'Outbox rows that wait to be published, counted up to ten thousand',
})
const waitingSeconds = meter('relay').createGauge('outbox_oldest_waiting_seconds', {
  description: 'Age of the oldest outbox row that waits to be published',
})

/** Every process measures the outbox's backlog, and the leader deletes old published rows. */
export const cleanUpOutbox = (sql: Sql, schema: string, logger: Logger, isLeading: () => boolean) =>
  worker({
    name: 'outbox clean-up',
    everyMs: EVERY_MS,
    logger,
    async work(stopping) {
      const { rows, seconds } = await backlog(sql)
      waitingRows.record(rows, { schema })
      waitingSeconds.record(seconds, { schema })
      while (isLeading() && !stopping.aborted && (await deletePublished(sql, KEEP_PUBLISHED_MS)));
    },
  })
