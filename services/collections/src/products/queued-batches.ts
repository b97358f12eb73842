import { isTransient } from '@backoffice/messaging/consumers/retry.ts'
import type { Sql } from '@backoffice/postgres/database.ts'
import { isRetriable } from '@backoffice/postgres/postgres-errors.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { RuleSets } from '../memberships/rule-sets.ts'
import { applyQueuedOf, BATCH_SIZE, type Batch, type PartitionShard } from './apply-queued-batch.ts'

/** How long a workspace rests after a transient error, such as a wait for a row that one of its requests has locked. */
const COOLDOWN_MS = 1000
const MAX_REASON_LENGTH = 1000

/**
 * Returns a function that applies the next batch of a workspace: of the shard's partitions or, without a shard, of all,
 * waiting for the membership lock. It returns the number of products, or LOCKED, and catches the errors of a batch.
 * After an error the next batch is half as large. A product that fails alone is set aside with the reason.
 */
export function queuedBatches(sql: Sql, ruleSets: RuleSets, logger: Logger, shard?: PartitionShard) {
  /** Of workspaces whose last batch failed: the size of the next one, and when it may begin. */
  const failed = new Map<string, { size: number; from: number }>()

  return async (workspaceId: string): Promise<number | 'LOCKED'> => {
    const { size, from } = failed.get(workspaceId) ?? { size: BATCH_SIZE, from: 0 }
    if (performance.now() < from) return 0
    const startedAt = performance.now()
    const batch: Batch = { workspaceId, size, shard }
    try {
      const applied = await applyQueuedOf(sql, ruleSets, batch)
      if (applied === 'LOCKED') return applied
      if (size * 2 > BATCH_SIZE) failed.delete(workspaceId)
      else failed.set(workspaceId, { size: size * 2, from: 0 })
      const duration_ms = Math.round(performance.now() - startedAt)
      if (applied > 0)
        logger.info({ workspace: workspaceId, products: applied, duration_ms }, 'applied queued products')
      return applied
    } catch (error) {
      const mayPass = isTransient(error) || isRetriable(error)
      if (!mayPass && size === 1) await markRefused(sql, batch, error, logger)
      else
        failed.set(workspaceId, { size: Math.max(1, size >> 1), from: mayPass ? performance.now() + COOLDOWN_MS : 0 })
      if (mayPass) logger.warn({ err: error, workspace: workspaceId }, 'queued products wait for another try')
      return 1
    }
  }
}

/** Marks the first product of a batch as refused, with the reason, unless a newer state has replaced it. */
async function markRefused(sql: Sql, { workspaceId, first }: Batch, error: unknown, logger: Logger): Promise<void> {
  if (first === undefined) throw error
  const reason = (error instanceof Error ? error.message : String(error))
    .replaceAll('\0', '')
    .slice(0, MAX_REASON_LENGTH)
  logger.error({ err: error, workspace: workspaceId, product: first.id }, 'a product’s state cannot be applied')
  await sql`
    update queued_product set refused = ${reason}
    where workspace_id = ${workspaceId} and product_id = ${first.id} and version is not distinct from ${first.version}`
}
