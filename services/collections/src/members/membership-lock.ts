import type { AnySql } from '@backoffice/postgres/database.ts'

/** First key of the advisory locks on workspaces' memberships; the second is the workspace's hash. */
const MEMBERSHIP_LOCK = 7_021_004

/**
 * Shares workspaces' memberships until the transaction ends, with all who put single products into generations or take them
 * out; nobody builds a generation meanwhile (decision 020). Comes before any row is locked.
 */
export const shareMembership = (sql: AnySql, workspaceIds: readonly string[]) => sql`
  select pg_advisory_xact_lock_shared(${MEMBERSHIP_LOCK}::integer, hash)
  from (select distinct hashtext(id) as hash from unnest(${[...workspaceIds]}::text[]) as id order by 1) as workspace`

/** Has a workspace's membership alone until the transaction ends: to build a generation, or to change which there are. */
export const lockMembershipAlone = (sql: AnySql, workspaceId: string) => sql`
  select ${membershipLock(sql, workspaceId, 'ALONE')}`

/** How a workspace's membership is held: with those who change single products, or alone. */
export type Hold = 'SHARED' | 'ALONE'

/** The call that takes the lock, as part of a statement that takes others after it. */
export const membershipLock = (sql: AnySql, workspaceId: string, hold: Hold) =>
  hold === 'ALONE'
    ? sql`pg_advisory_xact_lock(${MEMBERSHIP_LOCK}::integer, hashtext(${workspaceId}))`
    : sql`pg_advisory_xact_lock_shared(${MEMBERSHIP_LOCK}::integer, hashtext(${workspaceId}))`
