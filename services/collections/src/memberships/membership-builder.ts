import { ADVISORY_LOCKS } from '@backoffice/postgres/advisory-locks.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import { isLockTimeout } from '@backoffice/postgres/postgres-errors.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { workspacesInTurn } from '@backoffice/postgres/workspaces-in-turn.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { noteFailure } from '@backoffice/runtime/worker-failures.ts'
import { NIL } from 'uuid'
import { buildChunk } from './build-membership-version.ts'
import { limitChunk, limitMembershipWait, lockMembershipsExclusive } from './membership-lock.ts'
import { UnreadableVersions } from './unreadable-versions.ts'

const NAME = 'membership builder'
const EVERY_MS = 200
/** About how long a chunk holds the membership lock: product changes wait as long, and the builder for them in turn. */
const CHUNK_MS = 200
/** Products in a chunk. */
const CHUNK_SIZE = { min: 1, initial: 5000, max: 50_000 }
/** The next chunk after one that failed, for example because it took too long, is so many times smaller. */
const SMALLER = 10
/** Workspaces whose chunk size is known. */
const MOST_SIZES = 1000

/**
 * Completes the BUILDING versions and deletes the RETIRED ones, one chunk per workspace in turn. Replicas share the
 * work; after a crash another continues. Leaves versions that it cannot read to others. `sql` is of the worker role.
 */
export function membershipBuilder(sql: Sql, logger: Logger, unreadable = new UnreadableVersions(logger)) {
  const nextWorkspace = workspacesInTurn(
    sql,
    () => sql`
      select workspace_id as "workspaceId" from membership_version
      where state = 'BUILDING' and number <> all(${[...unreadable.numbers]}::bigint[])`,
  )
  let hasBuilt = false
  /** Of the next chunk, by workspace: what the rules and products of one cost says nothing about another. */
  const sizes = new Map<string, number>()
  return worker({
    name: NAME,
    everyMs: EVERY_MS,
    logger,
    work: async (stopping) => {
      const [hasMore, hasDeleted] = [await buildNext(), await deleteFromRetiredVersion(sql, CHUNK_SIZE.initial)]
      return stopping.aborted || hasMore || hasDeleted ? 0 : undefined
    },
  })

  /** Returns false after a round that built nothing: no work is left, or other replicas do it. */
  async function buildNext(): Promise<boolean> {
    const next = await nextWorkspace()
    if (next === undefined) {
      const hadBuilt = hasBuilt
      hasBuilt = false
      return hadBuilt
    }
    const { workspaceId } = next
    const size = sizes.get(workspaceId) ?? CHUNK_SIZE.initial
    if (sizes.size > MOST_SIZES) sizes.clear()
    sizes.set(workspaceId, Math.ceil(size / SMALLER))
    const tookMs = await buildIn(sql, logger, workspaceId, size, unreadable)
    sizes.set(workspaceId, tookMs === undefined ? size : nextSize(size, tookMs))
    hasBuilt ||= tookMs !== undefined
    return true
  }
}

/** At most doubles: a chunk may be quick because few of its products match. */
const nextSize = (size: number, tookMs: number): number =>
  Math.round(Math.min(Math.max((size * CHUNK_MS) / Math.max(tookMs, CHUNK_MS / 2), CHUNK_SIZE.min), CHUNK_SIZE.max))

/**
 * Returns for how many milliseconds it held the membership lock; undefined if another replica builds there, or the lock
 * stayed taken.
 */
async function buildIn(
  sql: Sql,
  logger: Logger,
  workspaceId: string,
  size: number,
  unreadable: UnreadableVersions,
): Promise<number | undefined> {
  let lockedAt: number | undefined
  await inTransaction(sql, async (tx) => {
    const [{ isMine }] = await tx<[{ isMine: boolean }]>`
      select pg_try_advisory_xact_lock(${ADVISORY_LOCKS.memberBuild}::integer, hashtext(${workspaceId})) as "isMine"`
    if (!isMine) return
    await limitMembershipWait(tx)
    await lockMembershipsExclusive(tx, workspaceId)
    lockedAt = performance.now()
    // No chunk is smaller than one product, however long it takes.
    if (size > CHUNK_SIZE.min) await tx`select ${limitChunk(tx)}`
    await buildChunk(tx, workspaceId, size, unreadable)
  }).catch((error: unknown) => {
    if (lockedAt !== undefined || !isLockTimeout(error)) throw error
    noteFailure(logger, NAME, error, { workspace_id: workspaceId })
  })
  return lockedAt && performance.now() - lockedAt
}

/**
 * Deletes up to `size` members of a RETIRED version, and it with its last member. Returns whether there was one. A
 * search from the start would read the deleted rows that are not vacuumed yet, so it goes on after the last product of
 * the chunk before, `processed_to`. One range of the primary key needs no statistics.
 */
export async function deleteFromRetiredVersion(sql: Sql, size: number): Promise<boolean> {
  return inTransaction(sql, async (tx) => {
    const [version] = await tx<{ number: number; processedTo: string }[]>`
      select number, coalesce(processed_to, ${NIL}) as "processedTo"
      from membership_version where state = 'RETIRED' limit 1 for update skip locked`
    if (version === undefined) return false
    const { number, processedTo } = version
    const remaining = tx`version_number = ${number} and product_id > ${processedTo}`
    const [last] = await tx<{ id: string }[]>`
      select product_id as id from collection_member where ${remaining} order by product_id offset ${size - 1} limit 1`
    await tx`delete from collection_member where ${remaining} ${last ? tx`and product_id <= ${last.id}` : tx``}`
    if (last === undefined) await tx`delete from membership_version where number = ${number}`
    else await tx`update membership_version set processed_to = ${last.id} where number = ${number}`
    return true
  })
}
