import type { Sql } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { erasePersonalData } from './erase-personal-data.ts'
import { advancePass, endPass, nextPass, postponePass, startPasses } from './erasure-passes.ts'

const EVERY_MS = 1000

/**
 * Removes the personal data of erased customers (OP-139), a batch of one workspace after a batch of another. After each
 * batch it rests as long as the batch took, so it uses half of one connection at most. Replicas share the passes; `sql`
 * is of the worker role, `clock` is that of the database.
 */
export const erasureWorker = (sql: Sql, logger: Logger, clock: () => Date) =>
  worker({
    name: 'erasures',
    everyMs: EVERY_MS,
    logger,
    work: async () => {
      const startedAt = performance.now()
      if (await eraseSome(sql, logger, clock())) return performance.now() - startedAt
    },
  })

/** Works on one batch of the pass that has waited longest. Returns false when there was nothing to do. */
export async function eraseSome(sql: Sql, logger: Logger, now: Date): Promise<boolean> {
  await startPasses(sql, now)
  let workspaceId: string | undefined
  try {
    return await inTransaction(sql, async (tx) => {
      const pass = await nextPass(tx)
      if (pass === undefined) return false
      workspaceId = pass.workspaceId
      const batch = await erasePersonalData(tx, pass, now)
      if (batch === undefined) await endPass(tx, pass)
      else await advancePass(tx, pass, batch.lastId, now)
      if (batch?.redacted) logger.info({ workspace_id: workspaceId, events: batch.redacted }, 'personal data removed')
      return true
    })
  } catch (error) {
    // Otherwise the workspace of the failure would be next again, and no other would have its turn.
    if (workspaceId !== undefined) await postponePass(sql, workspaceId, now)
    throw error
  }
}
