import type { Sql } from '@backoffice/postgres/database.ts'
import { isRetriable, isUnavailable } from '@backoffice/postgres/postgres-errors.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { Component } from '@backoffice/runtime/process.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { NIL } from 'uuid'
import type { RuleSets } from '../memberships/rule-sets.ts'
import { applyQueuedOf, BATCH_SIZE, type Batch } from './apply-queued-batch.ts'

const EVERY_MS = 100
/** How long a workspace rests after a transient error, such as a wait for a row that one of its requests has locked. */
const REST_MS = 1000

/**
 * Applies queued products (`queueProducts`), a batch of one workspace after a batch of another. A workspace whose membership lock is
 * taken is passed over and handed to a second loop, which waits for that lock and holds nothing meanwhile: only so a workspace whose
 * locks follow each other, as while a membership version is built, gets its products. Replicas share the work. `sql` has the worker role.
 */
export function applyQueuedProducts(sql: Sql, ruleSets: RuleSets, logger: Logger): Component & { wake(): void } {
  const locked = new Set<string>()
  /** Of workspaces whose last batch failed: the size of the next one, and when it may begin. */
  const failed = new Map<string, { size: number; from: number }>()

  const next = worker({ name: 'queued products', everyMs: EVERY_MS, logger, work: applyRound })
  const waiting = worker({ name: 'queued products of locked workspaces', everyMs: 60_000, logger, work: applyLocked })
  return {
    name: next.name,
    wake: next.wake,
    async start() {
      await Promise.all([next.start?.(), waiting.start?.()])
    },
    async stop() {
      await Promise.all([next.stop?.(), waiting.stop?.()])
    },
  }

  async function applyRound(stopping: AbortSignal): Promise<number | undefined> {
    let applied = 0
    let workspaceId = await nextWorkspace(sql, NIL)
    for (; workspaceId !== undefined && !stopping.aborted; workspaceId = await nextWorkspace(sql, workspaceId)) {
      const count = await applyNext(workspaceId)
      if (count !== 'LOCKED') applied += count
      else if (!locked.has(workspaceId)) {
        locked.add(workspaceId)
        waiting.wake()
      }
    }
    return applied > 0 ? 0 : undefined
  }

  async function applyLocked(stopping: AbortSignal): Promise<void> {
    for (const workspaceId of locked) {
      if (stopping.aborted) return
      await applyNext(workspaceId, true).finally(() => locked.delete(workspaceId))
    }
  }

  /** Applies a batch of a workspace. After a failure the next batch is half as large; a product that fails alone is refused. */
  async function applyNext(workspaceId: string, isPatient = false): Promise<number | 'LOCKED'> {
    const { size, from } = failed.get(workspaceId) ?? { size: BATCH_SIZE, from: 0 }
    if (performance.now() < from) return 0
    const startedAt = performance.now()
    const batch: Batch = { workspaceId, size, isPatient }
    try {
      const applied = await applyQueuedOf(sql, ruleSets, batch)
      if (applied === 'LOCKED') return applied
      if (size * 2 > BATCH_SIZE) failed.delete(workspaceId)
      else failed.set(workspaceId, { size: size * 2, from: 0 })
      if (applied > 0) {
        const duration_ms = Math.round(performance.now() - startedAt)
        logger.info({ worker: next.name, workspace: workspaceId, products: applied, duration_ms }, 'applied')
      }
      return applied
    } catch (error) {
      const isTransient = isUnavailable(error) || isRetriable(error)
      if (!isTransient && size === 1) await refuse(batch, error)
      else
        failed.set(workspaceId, { size: Math.max(1, size >> 1), from: isTransient ? performance.now() + REST_MS : 0 })
      if (isTransient) logger.warn({ err: error, worker: next.name, workspace: workspaceId }, 'another try follows')
      return 1
    }
  }

  async function refuse({ workspaceId, productId }: Batch, error: unknown): Promise<void> {
    if (productId === undefined) throw error
    const reason = (error instanceof Error ? error.message : String(error)).replaceAll('\0', '').slice(0, 1000)
    logger.error({ err: error, workspace: workspaceId, product: productId }, 'state refused')
    await sql`
      update queued_product set refused = ${reason} where workspace_id = ${workspaceId} and product_id = ${productId}`
  }
}

async function nextWorkspace(sql: Sql, previous: string): Promise<string | undefined> {
  const [next] = await sql<{ workspaceId: string }[]>`
    select workspace_id as "workspaceId" from queued_product
    where refused is null and workspace_id > ${previous} order by workspace_id limit 1`
  return next?.workspaceId
}
