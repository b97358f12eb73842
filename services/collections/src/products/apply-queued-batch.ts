import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import { isLockTimeout } from '@backoffice/postgres/postgres-errors.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { lockMembershipsShared, tryLockMembershipShared } from '../memberships/membership-lock.ts'
import type { RuleSets } from '../memberships/rule-sets.ts'
import { applyProducts, type ProductChange } from './apply-products.ts'
import { lockPartition, tryLockPartition } from './write-products.ts'

/** Products of one transaction. */
export const BATCH_SIZE = 200
/** The most bytes of the states of one transaction, which are in memory together. */
const MAX_BYTES = 2 * 1024 * 1024
/** How long a batch waits for the membership lock before another workspace's batch has its turn. */
const MEMBERSHIP_LOCK_TIMEOUT_MS = 1000
/** The longest wait for a row that a request has locked: the consumer waits for the partition meanwhile. */
const LOCK_TIMEOUT_MS = 100

interface QueuedChange extends ProductChange {
  readonly version: number | null
}

/** The partitions whose number modulo `of` is `number`. */
export interface PartitionShard {
  readonly number: number
  readonly of: number
}

/**
 * After this time, in seconds, a product waits for the partition's lock. Before, the consumer goes first: others wait
 * for it.
 */
const OVERDUE_S = 2

/** The next batch of a workspace. */
export interface Batch {
  readonly workspaceId: string
  readonly size: number
  /**
   * Only the shard's partitions. Without a shard: all partitions, and up to a second of waiting for the membership
   * lock.
   */
  readonly shard?: PartitionShard | undefined
  /** The first product of the batch, once it is read. */
  first?: QueuedChange | undefined
}

/**
 * Applies the oldest queued products of a workspace, all of one partition, and returns their number: 0 while the
 * consumer has the partition, LOCKED while another transaction has the membership lock. Takes the membership lock
 * before the partition's, so that nobody waits for the partition meanwhile.
 */
export async function applyQueuedOf(sql: Sql, ruleSets: RuleSets, batch: Batch): Promise<number | 'LOCKED'> {
  const { workspaceId, shard } = batch
  let isLocked = false
  const apply = async (tx: AnySql) => {
    isLocked = shard ? await tryLockMembershipShared(tx, workspaceId) : await waitForLock(tx, workspaceId)
    if (!isLocked) return 'LOCKED'
    const [oldest] = await tx<{ partition: number; isOverdue: boolean }[]>`
      select partition, queued_at < now() - make_interval(secs => ${OVERDUE_S}) as "isOverdue" from queued_product
      where workspace_id = ${workspaceId} and refused is null
        ${shard ? tx`and partition % ${shard.of} = ${shard.number}` : tx``}
      order by queued_at, product_id limit 1`
    if (oldest === undefined) return 0
    const { partition, isOverdue } = oldest
    if (!isOverdue && !(await tryLockPartition(tx, partition))) return 0
    await lockPartition(tx, partition, LOCK_TIMEOUT_MS)
    const changes = await readOldest(tx, batch, partition)
    const ids = changes.map(({ id }) => id)
    batch.first = changes[0]
    await applyProducts(tx, ruleSets, changes)
    await tx`
      delete from queued_product where workspace_id = ${workspaceId} and product_id = any(${ids}::uuid[])`
    return changes.length
  }
  return inTransaction(sql, apply).catch((error: unknown) => {
    if (isLocked || !isLockTimeout(error)) throw error
    return 'LOCKED'
  })
}

async function waitForLock(sql: AnySql, workspaceId: string): Promise<true> {
  await sql`select set_config('lock_timeout', ${`${MEMBERSHIP_LOCK_TIMEOUT_MS}ms`}, true)`
  await lockMembershipsShared(sql, [workspaceId])
  return true
}

/** Locks the rows, so that a rebuild deletes none that is about to be applied. */
const readOldest = (sql: AnySql, { workspaceId, size }: Batch, partition: number) => sql<QueuedChange[]>`
  select workspace_id as "workspaceId", product_id as id, version, state
  from (
    select *, sum(bytes) over (order by queued_at, product_id) - bytes as bytes_before
    from (
      select * from queued_product
      where workspace_id = ${workspaceId} and partition = ${partition} and refused is null
      order by queued_at, product_id limit ${size}
      for update
    ) as oldest
  ) as measured
  where bytes_before < ${MAX_BYTES}
  order by queued_at, product_id`
