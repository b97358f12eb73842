import type { Database } from '@backoffice/postgres/database.ts'
import { MEASURED_ROWS, measureRows } from '@backoffice/postgres/measure-rows.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { gauge } from '@backoffice/runtime/metrics.ts'

const taking = gauge(
  'orders_reservations_taking',
  'Reservations of stock whose order is neither placed nor given up, counted up to ten thousand',
)
const oldest = gauge(
  'orders_oldest_taking_seconds',
  'Age of the oldest of these reservations; after 15 s it is abandoned and is to be released',
  's',
)

/**
 * Measures the reservations that are TAKING. HELD ones belong to placed orders: many, and they wait for nothing. One
 * that lies ahead, since the clock was wrong, counts as old (OP-302).
 */
export const measureReservations = (worker: Database, logger: Logger) =>
  measureRows('reservations', worker, logger, async (tx) => {
    const [found] = await tx<[{ reservations: number; seconds: number }]>`
      select count(*)::integer as reservations,
        greatest(extract(epoch from now() - min(created_at)), extract(epoch from max(created_at) - now()), 0)::float8 as seconds
      from (select created_at from reservation where state = 'TAKING' order by created_at limit ${MEASURED_ROWS}) as taking`
    taking.record(found.reservations)
    oldest.record(found.seconds)
  })
