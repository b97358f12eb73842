import type { Database } from '@backoffice/postgres/database.ts'
import { MEASURED_ROWS, measureRows } from '@backoffice/postgres/measure-rows.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { gauge } from '@backoffice/runtime/metrics.ts'

const placements = gauge(
  'orders_placements',
  'Paid orders that are not placed, of the oldest ten thousand: waiting for another attempt, or refused',
)
const oldest = gauge('orders_oldest_placement_seconds', 'Time since the payment of the oldest that waits', 's')

/** Measures the paid orders that are not placed (OP-47). */
export const measurePlacements = (worker: Database, logger: Logger) =>
  measureRows('placements', worker, logger, async (tx) => {
    const [found] = await tx<[{ waiting: number; refused: number; seconds: number }]>`
      select count(next_attempt_at)::integer as waiting, (count(*) - count(next_attempt_at))::integer as refused,
        coalesce(extract(epoch from now() - min(created_at) filter (where next_attempt_at is not null)), 0)::float8 as seconds
      from (select created_at, next_attempt_at from placement order by created_at limit ${MEASURED_ROWS}) as oldest`
    placements.record(found.waiting, { state: 'waiting' })
    placements.record(found.refused, { state: 'refused' })
    oldest.record(Math.max(0, found.seconds))
  })
