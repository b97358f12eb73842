import type { AnySql, Database } from '@backoffice/postgres/database.ts'
import { MEASURED_ROWS, measureRows } from '@backoffice/postgres/measure-rows.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { gauge } from '@backoffice/runtime/metrics.ts'

const pending = gauge(
  'webhook_deliveries_pending',
  'Deliveries that wait in the table, by when they are due and whether they were tried; each up to ten thousand',
)
const backlog = gauge(
  'webhook_fan_out_backlog_events',
  'Events whose deliveries are still to be inserted, counted up to ten thousand',
)
const ahead = gauge(
  'webhook_partitions_ahead_days',
  'Days after today that have partitions of events, deliveries and attempts',
)
const oldest = gauge('webhook_oldest_partition_days', 'Age of the oldest daily partition; it is dropped after 30 days')

/** Measures what waits to be sent, and whether the daily partitions are kept up. */
export const measureDeliveries = (db: Database, logger: Logger) =>
  measureRows('deliveries', db, logger, async (tx) => {
    await measurePending(tx)
    await measurePartitions(tx)
  })

/** What is in memory or in flight counts as due until it is recorded. */
async function measurePending(tx: AnySql): Promise<void> {
  const [counts] = await tx<[Record<'dueFirst' | 'dueRetry' | 'laterFirst' | 'laterRetry' | 'events', number>]>`
    with due as materialized (
      select attempts_made from delivery
      where due_at <= now() and claimed_by is null order by due_at limit ${MEASURED_ROWS}
    ), later as materialized (
      select attempts_made from delivery
      where due_at > now() and claimed_by is null order by due_at limit ${MEASURED_ROWS}
    )
    select
      (select count(*) from due where attempts_made = 0)::integer as "dueFirst",
      (select count(*) from due where attempts_made > 0)::integer as "dueRetry",
      (select count(*) from later where attempts_made = 0)::integer as "laterFirst",
      (select count(*) from later where attempts_made > 0)::integer as "laterRetry",
      (select count(*) from (select from fan_out_backlog limit ${MEASURED_ROWS}) as waiting)::integer as events`
  pending.record(counts.dueFirst, { state: 'due', attempt: 'first' })
  pending.record(counts.dueRetry, { state: 'due', attempt: 'retry' })
  pending.record(counts.laterFirst, { state: 'scheduled', attempt: 'first' })
  pending.record(counts.laterRetry, { state: 'scheduled', attempt: 'retry' })
  backlog.record(counts.events)
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
