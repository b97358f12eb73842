import type { AnySql, Database } from '@backoffice/postgres/database.ts'
import { MEASURED_ROWS, measureRows } from '@backoffice/postgres/measure-rows.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { gauge } from '@backoffice/runtime/metrics.ts'

const backlog = gauge(
  'webhook_fan_out_backlog_events',
  'Events whose deliveries are still to be inserted, counted up to ten thousand',
)
const ahead = gauge(
  'webhook_partitions_ahead_days',
  'Days after today that have partitions of events, deliveries and attempts',
)
const oldest = gauge('webhook_oldest_partition_days', 'Age of the oldest daily partition; it is dropped after 30 days')

/** Measures how many events wait for their deliveries, and whether the daily partitions are kept up. */
export const measureDeliveries = (db: Database, logger: Logger) =>
  measureRows('deliveries', db, logger, async (tx) => {
    await measureBacklog(tx)
    await measurePartitions(tx)
  })

async function measureBacklog(tx: AnySql): Promise<void> {
  const [{ events }] = await tx<[{ events: number }]>`
    select count(*)::integer as events from (select from fan_out_backlog limit ${MEASURED_ROWS}) as waiting`
  backlog.record(events)
}

async function measurePartitions(tx: AnySql): Promise<void> {
  const [days] = await tx<[{ ahead: number; oldest: number }]>`
    select
      coalesce(min(last_day - today), -1)::integer as ahead,
      coalesce(max(today - first_day), 0)::integer as oldest
    from (
      select
        (now() at time zone 'UTC')::date as today, min(day) as first_day, max(day) as last_day
      from pg_inherits
      join pg_class on pg_class.oid = inhrelid
      cross join lateral to_date(substring(relname from '_([0-9]{8})$'), 'YYYYMMDD') as day
      where inhparent in ('event'::regclass, 'delivery'::regclass, 'attempt'::regclass) and relname ~ '_[0-9]{8}$'
      group by inhparent
    ) as parents`
  ahead.record(days.ahead)
  oldest.record(days.oldest)
}
