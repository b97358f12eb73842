import type { Logger } from '@backoffice/runtime/logger.ts'
import { meter } from '@backoffice/runtime/metrics.ts'
import { pauseUnless } from '@backoffice/runtime/pause.ts'
import type { Sql } from 'postgres'
import { backlog, deletePublished } from './outbox-rows.ts'

const EVERY_MS = 5000

const waitingRows = meter('relay').createGauge('outbox_waiting_rows', {
  description: 'Outbox rows that wait to be published, counted up to ten thousand',
})
const waitingSeconds = meter('relay').createGauge('outbox_oldest_waiting_seconds', {
  description: 'Age of the oldest outbox row that waits to be published',
})

export interface Housekeeping {
  readonly schema: string
  /** Published rows are kept this long, to look into. */
  readonly keepPublishedMs: number
  readonly stopping: AbortSignal
  readonly logger: Logger
  isLeading(): boolean
}

/** Measures what waits, whoever leads, and as the leader deletes what was published long ago; until it is stopped. */
export async function keepHouse(sql: Sql, { schema, keepPublishedMs, stopping, logger, isLeading }: Housekeeping) {
  while (!stopping.aborted) {
    try {
      const { rows, seconds } = await backlog(sql)
      waitingRows.record(rows, { schema })
      waitingSeconds.record(seconds, { schema })
      while (isLeading() && !stopping.aborted && (await deletePublished(sql, keepPublishedMs)));
    } catch (error) {
      logger.warn({ err: error, schema }, 'could not look after the outbox')
    }
    await pauseUnless(stopping, EVERY_MS)
  }
}
