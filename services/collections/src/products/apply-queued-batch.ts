import { BUG_PATIENCE_MS, causeOf } from '@backoffice/messaging/consumers/error-causes.ts'
import { Patience } from '@backoffice/messaging/consumers/patience.ts'
import type { AnySql, Sql } from '@backoffice/postgres/database.ts'
import { isLockTimeout, isRetriable } from '@backoffice/postgres/postgres-errors.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { noteFailure } from '@backoffice/runtime/worker-failures.ts'
import { limitMembershipWait, lockMembershipsShared, tryLockMembershipShared } from '../memberships/membership-lock.ts'
import { type RuleSets, ruleWeights } from '../memberships/rule-sets.ts'
import { applyProducts, lockPartition, type ProductChange, tryLockPartition } from './write-products.ts'

const BATCH_SIZE = 200
/** The most bytes of the states of one transaction, which are in memory together. */
const MAX_BYTES = 2 * 1024 * 1024
/** About how long a batch may take: the consumer waits for the partition, and all workspaces with it. */
const BATCH_MS = 200
/** The longest wait for the partition: requests of the workspace wait for its membership lock meanwhile. */
const PARTITION_WAIT_MS = 300
/** The longest wait for a row that a request has locked: the consumer waits for the partition meanwhile. */
const LOCK_TIMEOUT_MS = 100
/** After so long a product waits for the partition's lock. Before, the consumer goes first: others wait for it. */
const OVERDUE_S = 2
/** The longest rest of a workspace after an error that may pass, such as a wait for a row that a request has locked. */
const LONGEST_COOLDOWN_MS = 5000
const MAX_REASON_LENGTH = 1000

/**
 * Returns a function that applies the next batch of a workspace and catches its errors: the next one is half as large
 * then, and a product that is refused alone is set aside with the reason. After one that took long, the next one is
 * smaller, too. Returns the number of products, or LOCKED. `worker` is whose failures it counts.
 */
export function queuedBatches(sql: Sql, ruleSets: RuleSets, logger: Logger, worker: string, shard?: Batch['shard']) {
  /** Of workspaces whose next batch is not a full one: its size, and when it may begin. */
  const smaller = new Map<string, { size: number; from: number }>()
  const nextSize = (workspaceId: string, size: number, from = 0) => {
    if (size < BATCH_SIZE) smaller.set(workspaceId, { size: Math.max(1, size), from })
    else smaller.delete(workspaceId)
  }
  const patience = new Patience({ bugMs: BUG_PATIENCE_MS, longestWaitMs: LONGEST_COOLDOWN_MS })
  /** Whether the batch may succeed later as it is. A single product waits that may meet a bug of ours. */
  const mayPass = (error: unknown, { workspaceId, size }: Batch): boolean => {
    if (isRetriable(error)) return true
    const cause = causeOf(error)
    return cause === 'WORLD' || (cause === 'BUG' && size === 1 && !patience.isOver(workspaceId, error))
  }

  return async (workspaceId: string): Promise<number | 'LOCKED'> => {
    const { size, from } = smaller.get(workspaceId) ?? { size: BATCH_SIZE, from: 0 }
    if (performance.now() < from) return 0
    const batch: Batch = { workspaceId, size, shard }
    try {
      const applied = await applyQueuedOf(sql, ruleSets, batch)
      if (applied === 'LOCKED' || applied === 0) return applied
      patience.succeeded(workspaceId)
      const duration_ms = Math.round(performance.now() - (batch.beganAt ?? 0))
      nextSize(workspaceId, sizeAfter(size, duration_ms))
      logger.info({ workspace: workspaceId, products: applied, duration_ms }, 'applied queued products')
      return applied
    } catch (error) {
      if (mayPass(error, batch)) {
        nextSize(workspaceId, size >> 1, performance.now() + patience.failed(workspaceId))
        noteFailure(logger, worker, error, { workspace_id: workspaceId })
      } else if (size === 1) await markRefused(sql, batch, error, logger)
      else nextSize(workspaceId, size >> 1)
      return 1
    }
  }
}

/** The size of the next batch, for about BATCH_MS: at most twice the one before, as its products may have been few. */
const sizeAfter = (size: number, tookMs: number): number =>
  Math.round((size * BATCH_MS) / Math.max(tookMs, BATCH_MS / 2))

/** Marks the first product of a batch as refused, with the reason, unless a newer state has replaced it. */
async function markRefused(sql: Sql, { workspaceId, first }: Batch, error: unknown, logger: Logger): Promise<void> {
  if (first === undefined) throw error
  const reason = (error instanceof Error ? error.message : String(error))
    .replaceAll('\0', '')
    .slice(0, MAX_REASON_LENGTH)
  logger.error({ err: error, workspace: workspaceId, product: first.id }, 'a product’s state cannot be applied')
  await sql`
    update queued_product set refused = ${reason}
    where workspace_id = ${workspaceId} and product_id = ${first.id}
      and version is not distinct from ${first.state?.data.version ?? null}`
}

export interface Batch {
  readonly workspaceId: string
  readonly size: number
  /** The partitions `number` modulo `of`. Without it: all, and up to a second of waiting for the membership lock. */
  readonly shard?: { readonly number: number; readonly of: number } | undefined
  /** The first product of the batch, once it is read. */
  first?: ProductChange | undefined
  /** When it had its locks, by `performance.now`. */
  beganAt?: number
}

/**
 * Applies the oldest queued products of one partition: 0 while others have it, LOCKED while another transaction
 * has the membership lock. That comes first, so that nobody waits for the partition meanwhile.
 */
export async function applyQueuedOf(sql: Sql, ruleSets: RuleSets, batch: Batch): Promise<number | 'LOCKED'> {
  const { workspaceId, shard } = batch
  let waitsFor: 'memberships' | 'partition' | 'rows' = 'memberships'
  const apply = async (tx: AnySql) => {
    const isLocked = shard ? await tryLockMembershipShared(tx, workspaceId) : await waitForLock(tx, workspaceId)
    if (!isLocked) return 'LOCKED'
    const [oldest] = await tx<{ partition: number; isOverdue: boolean }[]>`
      select partition, queued_at < now() - make_interval(secs => ${OVERDUE_S}) as "isOverdue" from queued_product
      where workspace_id = ${workspaceId} and refused is null
        ${shard ? tx`and partition % ${shard.of} = ${shard.number}` : tx``}
      order by queued_at, product_id limit 1`
    if (oldest === undefined) return 0
    const { partition, isOverdue } = oldest
    if (!isOverdue && !(await tryLockPartition(tx, partition))) return 0
    waitsFor = 'partition'
    await tx`select set_config('lock_timeout', ${`${PARTITION_WAIT_MS}ms`}, true)`
    await lockPartition(tx, partition, LOCK_TIMEOUT_MS)
    waitsFor = 'rows'
    batch.beganAt = performance.now()
    const weightOf = await ruleWeights(tx, ruleSets, [workspaceId])
    const changes = await readOldest(tx, batch, partition, Math.ceil(batch.size / weightOf(workspaceId)))
    const ids = changes.map(({ id }) => id)
    batch.first = changes[0]
    await applyProducts(tx, ruleSets, changes)
    await tx`
      delete from queued_product where workspace_id = ${workspaceId} and product_id = any(${ids}::uuid[])`
    return changes.length
  }
  return inTransaction(sql, apply).catch((error: unknown) => {
    if (waitsFor === 'rows' || !isLockTimeout(error)) throw error
    return waitsFor === 'partition' ? 0 : 'LOCKED'
  })
}

async function waitForLock(sql: AnySql, workspaceId: string): Promise<true> {
  await limitMembershipWait(sql)
  await lockMembershipsShared(sql, [workspaceId])
  return true
}

/** Locks the rows, so that a rebuild deletes none that is about to be applied. */
const readOldest = (sql: AnySql, { workspaceId }: Batch, partition: number, most: number) => sql<ProductChange[]>`
  select workspace_id as "workspaceId", product_id as id, state
  from (
    select *, sum(bytes) over (order by queued_at, product_id) - bytes as bytes_before
    from (
      select * from queued_product
      where workspace_id = ${workspaceId} and partition = ${partition} and refused is null
      order by queued_at, product_id limit ${most}
      for update
    ) as oldest
  ) as measured
  where bytes_before < ${MAX_BYTES}
  order by queued_at, product_id`
