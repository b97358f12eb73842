import { ADVISORY_LOCKS } from '@backoffice/postgres/advisory-locks.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'

/** Comes before any row lock. Holders change memberships side by side; none builds a version (decision 020). */
export const lockMembershipsShared = (sql: AnySql, workspaceIds: readonly string[]) => sql`
  select pg_advisory_xact_lock_shared(${ADVISORY_LOCKS.membership}::integer, hash)
  from (select distinct hashtext(id) as hash from unnest(${[...workspaceIds]}::text[]) as id order by 1) as workspace`

/**
 * Returns the workspaces whose lock was free. Leaves out one with a queued state that is set aside (`refused`): a newer
 * state of that product goes to the queue too, and replaces it.
 */
export async function tryLockMembershipsShared(sql: AnySql, workspaceIds: readonly string[]): Promise<Set<string>> {
  if (workspaceIds.length === 0) return new Set()
  const rows = await sql<{ id: string; isLocked: boolean }[]>`
    select id, case
        when exists (select from queued_product where workspace_id = id::uuid and refused is not null) then false
        else pg_try_advisory_xact_lock_shared(${ADVISORY_LOCKS.membership}::integer, hashtext(id))
      end as "isLocked"
    from (select distinct id from unnest(${[...workspaceIds]}::text[]) as id) as workspace`
  return new Set(rows.filter(({ isLocked }) => isLocked).map(({ id }) => id))
}

/** Takes a workspace's membership lock SHARED until the transaction ends; returns false when it is not free. */
export async function tryLockMembershipShared(sql: AnySql, workspaceId: string): Promise<boolean> {
  const [row] = await sql<[{ isLocked: boolean }]>`
    select pg_try_advisory_xact_lock_shared(${ADVISORY_LOCKS.membership}::integer, hashtext(${workspaceId})) as "isLocked"`
  return row.isLocked
}

/** Takes a workspace's membership lock EXCLUSIVE until the transaction ends, before any row lock. */
export const lockMembershipsExclusive = (sql: AnySql, workspaceId: string) => sql`
  select ${membershipLock(sql, workspaceId, 'EXCLUSIVE')}`

const WAIT_MS = 1000

/**
 * From here on the transaction waits for a lock no longer than 1 s (`isLockTimeout`): a workspace whose membership lock
 * stays taken must not keep the others waiting.
 */
export const limitMembershipWait = (sql: AnySql) => sql`select set_config('lock_timeout', ${`${WAIT_MS}ms`}, true)`

const CHUNK_MS = 2000

/**
 * The function call after whose statement none takes longer than 2 s (`isStatementTimeout`): a chunk of members holds
 * the EXCLUSIVE lock, for which requests wait.
 */
export const limitChunk = (sql: AnySql) => sql`set_config('statement_timeout', ${`${CHUNK_MS}ms`}, true)`

/** SHARED for changes of single products' memberships; EXCLUSIVE to build, start or retire a membership version. */
export type LockMode = 'SHARED' | 'EXCLUSIVE'

/** The function call that takes the lock, for a statement that takes row locks after it. */
export const membershipLock = (sql: AnySql, workspaceId: string, mode: LockMode) =>
  mode === 'EXCLUSIVE'
    ? sql`pg_advisory_xact_lock(${ADVISORY_LOCKS.membership}::integer, hashtext(${workspaceId}))`
    : sql`pg_advisory_xact_lock_shared(${ADVISORY_LOCKS.membership}::integer, hashtext(${workspaceId}))`
