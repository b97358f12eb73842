import { deliverySql, type WebhookPlace } from './subscribe.ts'

const KEPT_DAYS = 30

/** Adds the partitions of the days before, so that statements meet as many as after a month (decision 019). */
export async function addKeptDays(place: WebhookPlace): Promise<void> {
  const sql = deliverySql(place)
  await sql.begin(async (tx) => {
    await tx`set local role backoffice_migrator`
    await tx`
      select add_partition(parent, day) from unnest(array['event', 'delivery', 'attempt']) as parent
      cross join lateral (
        select (now() at time zone 'UTC')::date - ago as day from generate_series(2, ${KEPT_DAYS}::integer) as ago
      ) as days
      where to_regclass(parent || to_char(day, '_YYYYMMDD')) is null`
  })
  await sql.end()
}
