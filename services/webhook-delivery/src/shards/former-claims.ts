import type { Sql } from '@backoffice/postgres/database.ts'

/** So long after the last sign of a process of the version before its claims are free, in milliseconds. */
const FREE_AFTER_MS = 3000
const BATCH_SIZE = 5000

/**
 * For one version: deliveries, and events of the backlog, that processes of the version before have claimed. Nothing is
 * owned while such a process lives; what it leaves is freed once it has been gone for three seconds. `isThere` says at
 * each look whether one lives; returns whether one lives, or has just done so.
 */
export function formerClaims(sql: Sql): (isThere: boolean, now: number) => Promise<boolean> {
  let [isFirst, seenAt] = [true, Number.NEGATIVE_INFINITY]
  let mayHaveClaims = true
  return async (isThere, now) => {
    if (isThere || (isFirst && (await hasClaims(sql)))) [seenAt, mayHaveClaims] = [now, true]
    isFirst = false
    if (now - seenAt < FREE_AFTER_MS) return true
    if (mayHaveClaims) await free(sql)
    mayHaveClaims = false
    return false
  }
}

async function hasClaims(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ isThere: boolean }]>`
    select exists (select from delivery where claimed_by is not null)
      or exists (select from fan_out_backlog where claimed_by is not null) as "isThere"`
  return row.isThere
}

async function free(sql: Sql): Promise<void> {
  await sql`update fan_out_backlog set claimed_by = null where claimed_by is not null`
  for (let freed = BATCH_SIZE; freed === BATCH_SIZE; ) {
    const { count } = await sql`
      with claimed as (
        select workspace_id, endpoint_id, id, event_id from delivery
        where claimed_by is not null limit ${BATCH_SIZE} for update skip locked
      )
      update delivery set claimed_by = null, lease_until = null
      from claimed
      where delivery.workspace_id = claimed.workspace_id and delivery.endpoint_id = claimed.endpoint_id
        and delivery.id = claimed.id and delivery.event_id = claimed.event_id`
    freed = count
  }
}
