import type { Database } from '@backoffice/postgres/database.ts'
import { MEASURED_ROWS, measureRows } from '@backoffice/postgres/measure-rows.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { gauge } from '@backoffice/runtime/metrics.ts'

const placements = gauge(
  'orders_placements',
  'Paid orders that are not placed, each counted up to ten thousand: waiting for another attempt, or refused',
)
const oldest = gauge('orders_oldest_placement_seconds', 'Time since the payment of the oldest that waits', 's')

/** Measures the paid orders that are not placed (OP-47). */
export const measurePlacements = (worker: Database, logger: Logger) =>
  measureRows('placements', worker, logger, async (tx) => {
    // Each state by itself: refused placements stay until their merchants act, and would hide those that wait. One that
    // lies ahead, since the clock was wrong, counts as old (OP-302).
    const [found] = await tx<[{ waiting: number; refused: number; seconds: number }]>`
      select count(*)::integer as waiting,
        greatest(extract(epoch from now() - min(created_at)), extract(epoch from max(created_at) - now()), 0)::float8 as seconds,
        (
          select count(*)::integer from (
            select from placement where next_attempt_at is null limit ${MEASURED_ROWS}
          ) as refused
        ) as refused
      from (
        select created_at from placement where next_attempt_at is not null order by created_at limit ${MEASURED_ROWS}
      ) as waiting`
    placements.record(found.waiting, { state: 'waiting' })
    placements.record(found.refused, { state: 'refused' })
    oldest.record(found.seconds)
  })
