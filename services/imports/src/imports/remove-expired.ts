import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import { inBatches, worker } from '@backoffice/runtime/worker.ts'
import { folderOf } from '../files/file-paths.ts'
import type { WorkerContext } from './worker-context.ts'

const EVERY_MS = 60_000
const BATCH_SIZE = 50
const KEEP_DAYS = 30

type Removing = Pick<WorkerContext, 'db' | 'worker' | 'storage' | 'logger'>

/** Removes imports with their files 30 days after their last change (OP-146), by the database's clock. */
export const removeExpired = (context: WorkerContext) =>
  worker({
    name: 'expired imports',
    everyMs: EVERY_MS,
    logger: context.logger,
    work: inBatches(BATCH_SIZE, () => removeBatch(context)),
  })

/**
 * Removes some expired imports. One whose files cannot be removed now keeps no other. Returns how many were removed.
 */
export async function removeBatch(workers: Removing): Promise<number> {
  const { worker, logger } = workers
  const expired = await worker.sql<{ workspaceId: string; id: string }[]>`
    select workspace_id as "workspaceId", id from import
    where updated_at < now() - make_interval(days => ${KEEP_DAYS}) and (started_at is null or ended_at is not null)
    order by updated_at limit ${BATCH_SIZE}`
  let removed = 0
  for (const { workspaceId, id } of expired) {
    try {
      await removeImport(workers, workspaceId, id)
      removed++
    } catch (error) {
      logger.warn({ err: error, import_id: id, workspace_id: workspaceId }, 'could not remove an import, trying again')
    }
  }
  return removed
}

/**
 * Removes an import, files before rows: a crash in between repeats both. Files of earlier claims are among them, which
 * the next claim could not remove.
 */
async function removeImport({ db, storage }: Removing, workspaceId: string, id: string): Promise<void> {
  const context = { workspaceId, livemode: true, traceparent: traceparentFrom(undefined), actor: 'expiry' }
  // It ends, so that it can no longer be started.
  const ended = await db.inWorkspace(
    context,
    (tx) => tx`
      update import set
        ended_at = coalesce(ended_at, now()), status = case when ended_at is null then 'CANCELLED' else status end
      where workspace_id = ${workspaceId} and id = ${id}
        and updated_at < now() - make_interval(days => ${KEEP_DAYS}) and (started_at is null or ended_at is not null)`,
  )
  if (ended.count === 0) return
  await storage.removeFolder(folderOf({ workspaceId, id }))
  await db.inWorkspace(context, (tx) => tx`delete from import where workspace_id = ${workspaceId} and id = ${id}`)
}
