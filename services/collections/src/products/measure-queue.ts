import type { Database } from '@backoffice/postgres/database.ts'
import { MEASURED_ROWS, measureRows } from '@backoffice/postgres/measure-rows.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { meter } from '@backoffice/runtime/metrics.ts'

const collections = meter('collections')
const queued = collections.createGauge('collections_queued_products', {
  description: 'Products whose state waits to be applied (waiting), or cannot be (refused); each up to ten thousand',
})
const oldest = collections.createGauge('collections_oldest_queued_seconds', {
  description: 'Age of the oldest queued state that waits to be applied, among the first ten thousand',
  unit: 's',
})

/**
 * Measures the products that the consumer has queued: until they are applied the projection is older than its topic.
 */
export const measureQueue = (db: Database, logger: Logger) =>
  measureRows(db, logger, async (tx) => {
    const [found] = await tx<[{ waiting: number; refused: number; seconds: number }]>`
      with waiting as materialized (
        select queued_at from queued_product where refused is null order by workspace_id, queued_at limit ${MEASURED_ROWS}
      )
      select
        (select count(*) from waiting)::integer as waiting,
        (
          select count(*) from (select from queued_product where refused is not null limit ${MEASURED_ROWS}) as refused
        )::integer as refused,
        coalesce((select extract(epoch from now() - min(queued_at)) from waiting), 0)::float8 as seconds`
    queued.record(found.waiting, { state: 'waiting' })
    queued.record(found.refused, { state: 'refused' })
    oldest.record(Math.max(0, found.seconds))
  })
