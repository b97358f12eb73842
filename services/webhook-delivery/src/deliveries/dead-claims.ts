import { ADVISORY_LOCKS } from '@backoffice/postgres/advisory-locks.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import type { ReadyEndpoint } from './claims.ts'

/** A claimer is dead after so many milliseconds without its lock. A broken connection takes less. */
const DEAD_AFTER_MS = 2000

/** An endpoint whose deliveries were freed; `isRepeat` when these are no first attempts. */
export type FreedQueue = Pick<ReadyEndpoint, 'endpointId' | 'isRepeat'>

/**
 * Returns a function that frees claims of dead claimers and claims whose lease ended. Call it about once a second with
 * `performance.now()`. `onFreed` is called after each batch with its endpoints.
 */
export function deadClaimFreer(
  sql: Sql,
  onFreed: (freed: readonly FreedQueue[]) => void,
): (now: number) => Promise<void> {
  let withoutLockSince = new Map<number, number>()
  return async (now) => {
    const claimers = await claimersWithoutLock(sql)
    withoutLockSince = new Map(claimers.map((claimer) => [claimer, withoutLockSince.get(claimer) ?? now]))
    const dead = claimers.filter((claimer) => now - (withoutLockSince.get(claimer) ?? now) >= DEAD_AFTER_MS)
    if (dead.length > 0) await freeBacklog(sql, dead)
    for (let freed = await freeClaims(sql, dead); freed.length > 0; freed = await freeClaims(sql, dead)) onFreed(freed)
  }
}

/** Claimers that have claims, or events in the backlog, and no lock now. */
export async function claimersWithoutLock(sql: Sql): Promise<number[]> {
  const rows = await sql<{ claimer: number }[]>`
    select claimer from (
      select claimed_by as claimer from delivery where claimed_by is not null
      union select claimed_by from fan_out_backlog where claimed_by is not null
    ) known
    where claimer not in (
      select objid::bigint from pg_locks
      where locktype = 'advisory' and objsubid = 2 and classid = ${ADVISORY_LOCKS.claimer} and granted
        and database = (select oid from pg_database where datname = current_database())
    )`
  return rows.map(({ claimer }) => claimer)
}

const BATCH_SIZE = 5000

/** Frees some claims. */
const freeClaims = (sql: Sql, deadClaimers: readonly number[]) => sql<FreedQueue[]>`
  with free as (
    select workspace_id, endpoint_id, id, event_id from delivery
    where claimed_by is not null and (lease_until < clock_timestamp() or claimed_by = any(${[...deadClaimers]}::integer[]))
    limit ${BATCH_SIZE} for update skip locked
  ),
  freed as (
    update delivery set claimed_by = null, lease_until = null
    from free
    where delivery.workspace_id = free.workspace_id and delivery.endpoint_id = free.endpoint_id
      and delivery.id = free.id and delivery.event_id = free.event_id
    returning delivery.endpoint_id, attempts_made > 0 as is_later
  )
  select distinct endpoint_id as "endpointId", is_later as "isRepeat" from freed`

/** Frees the events that claimers have in the backlog: whoever looks next takes them over. */
export async function freeBacklog(sql: Sql, claimers: readonly number[]): Promise<void> {
  await sql`update fan_out_backlog set claimed_by = null where claimed_by = any(${[...claimers]}::integer[])`
}
