import type { Database } from '@backoffice/postgres/database.ts'
import { MEASURED_ROWS, measureRows } from '@backoffice/postgres/measure-rows.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { gauge } from '@backoffice/runtime/metrics.ts'

const waiting = gauge(
  'catalog_refresh_requests',
  'Products whose new state is still to be published, counted up to ten thousand',
)
const oldest = gauge(
  'catalog_oldest_refresh_seconds',
  'Age of the oldest of these requests, among the first ten thousand',
  's',
)

/** Measures the products whose changed state is not published to other services yet (decision 017). */
export const measureRefresh = (db: Database, logger: Logger) =>
  measureRows(db, logger, async (tx) => {
    const [found] = await tx<[{ requests: number; seconds: number }]>`
      select count(*)::integer as requests, coalesce(extract(epoch from now() - min(requested_at)), 0)::float8 as seconds
      from (select requested_at from product_refresh order by workspace_id, id limit ${MEASURED_ROWS}) as waiting`
    waiting.record(found.requests)
    oldest.record(Math.max(0, found.seconds))
  })
