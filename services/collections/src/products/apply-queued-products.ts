import type { Sql } from '@backoffice/postgres/database.ts'
import { workspacesInTurn } from '@backoffice/postgres/workspaces-in-turn.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { failsAlone } from '@backoffice/runtime/worker-failures.ts'
import type { RuleSets } from '../memberships/rule-sets.ts'
import { queuedBatches } from './apply-queued-batch.ts'

const NAME = 'queued products of locked workspaces'
const EVERY_MS = 200
/** Loops that work side by side, each on partitions of its own. */
const SHARDS = 2

/**
 * Applies queued products, a batch of each workspace in turn. One whose membership lock is taken goes to a loop that
 * waits for that lock and holds no other: else a workspace whose locks follow each other, as during a build, would
 * never get its products. Replicas share the work. `sql` has the worker role. Call `wake` of all after products are
 * queued.
 */
export function applyQueuedProducts(sql: Sql, ruleSets: RuleSets, logger: Logger) {
  const locked = new Set<string>()
  const applyWaiting = queuedBatches(sql, ruleSets, logger, NAME)
  const waiting = worker({
    name: NAME,
    everyMs: 60_000,
    logger,
    work: async (stopping) => {
      for (const workspaceId of locked) {
        if (stopping.aborted) return
        await failsAlone(logger, NAME, { workspace_id: workspaceId }, () => applyWaiting(workspaceId))
        locked.delete(workspaceId)
      }
    },
  })
  const shardWorkers = Array.from({ length: SHARDS }, (_, number) => {
    const name = `queued products ${number}`
    const shard = { number, of: SHARDS }
    const applyNext = queuedBatches(sql, ruleSets, logger, name, shard)
    const applyRound = async (stopping: AbortSignal) => {
      let applied = 0
      let isEmpty = true
      const nextWorkspace = workspacesInTurn(
        sql,
        () => sql`
          select workspace_id as "workspaceId" from queued_product
          where refused is null and partition % ${SHARDS} = ${number}`,
      )
      for (let next = await nextWorkspace(); next && !stopping.aborted; next = await nextWorkspace()) {
        const { workspaceId } = next
        isEmpty = false
        const count = await failsAlone(logger, name, { workspace_id: workspaceId }, () => applyNext(workspaceId))
        if (count !== 'LOCKED') applied += count ?? 0
        else if (!locked.has(workspaceId)) {
          locked.add(workspaceId)
          waiting.wake()
        }
      }
      if (isEmpty) return undefined
      return applied > 0 ? 0 : EVERY_MS
    }
    return worker({ name, everyMs: EVERY_MS, logger, work: applyRound })
  })
  return [...shardWorkers, waiting]
}
