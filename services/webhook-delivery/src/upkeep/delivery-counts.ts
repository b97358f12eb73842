import { KEPT_DAYS } from '@backoffice/contracts/usage.ts'
import type { Sql } from '@backoffice/postgres/database.ts'

/** Counts deleted by one transaction. */
const BATCH_SIZE = 5000

/** Deletes a batch of the counts of days that no answer shows any more, and returns its number (OP-272). */
export async function deleteExpiredDays(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from daily_count where ctid = any(array(
      select ctid from daily_count where day <= today_in_utc() - ${KEPT_DAYS}::integer limit ${BATCH_SIZE}
    ))`
  return count
}

/**
 * Deletes a batch of the counts of an expired day whose deliveries can be dropped now, and returns its number. The drop
 * deletes what is left: a day may have millions.
 */
export async function deleteExpiredCounts(sql: Sql): Promise<number> {
  const { count } = await sql`
    delete from hourly_delivery_count where ctid = any(array(
      select counted.ctid
      from expired_partitions(today_in_utc()) as expired
      join hourly_delivery_count as counted on counted.event_day = expired.day
      where expired.parent = 'delivery' and not is_waiting_between(
        least_id(expired.day::timestamp at time zone 'UTC'), least_id((expired.day + 1)::timestamp at time zone 'UTC')
      )
      limit ${BATCH_SIZE}
    ))`
  return count
}
