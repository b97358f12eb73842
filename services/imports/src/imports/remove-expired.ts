import { refuseWrongClock } from '@backoffice/postgres/database-clock.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { failsAlone } from '@backoffice/runtime/worker-failures.ts'
import { NIL } from 'uuid'
import { folderOf } from '../files/file-paths.ts'
import type { WorkerContext } from './worker-context.ts'

const NAME = 'expired imports'
const EVERY_MS = 60_000
const BATCH_SIZE = 50
const KEEP_DAYS = 30

type Removing = Pick<WorkerContext, 'db' | 'worker' | 'storage' | 'logger'>

/** An expired import. A round goes through them by the time of their last change. */
interface Expired {
  readonly workspaceId: string
  readonly id: string
  readonly updatedAt: string
}

const BEGINNING: Expired = { workspaceId: NIL, id: NIL, updatedAt: '-infinity' }

/** Removes imports with their files 30 days after their last change (OP-146), by the database's clock. */
export const removeExpired = (context: Removing) =>
  worker({
    name: NAME,
    everyMs: EVERY_MS,
    logger: context.logger,
    async work(stopping) {
      await refuseWrongClock(context.worker.sql)
      let after: Expired | undefined = BEGINNING
      while (after !== undefined && !stopping.aborted) ({ last: after } = await removeBatch(context, after))
    },
  })

/**
 * Removes some expired imports, of those after one. Where files cannot be removed now, their import stays until the
 * next round. Returns how many were removed, and the last one: undefined after all.
 */
export async function removeBatch(
  workers: Removing,
  after = BEGINNING,
): Promise<{ removed: number; last: Expired | undefined }> {
  const { worker, logger } = workers
  const expired = await worker.sql<Expired[]>`
    select workspace_id as "workspaceId", id, updated_at::text as "updatedAt" from import
    where updated_at < now() - make_interval(days => ${KEEP_DAYS}) and (started_at is null or ended_at is not null)
      and (updated_at, id) > (${after.updatedAt}::text::timestamptz, ${after.id}::uuid)
    order by updated_at, id limit ${BATCH_SIZE}`
  let removed = 0
  for (const { workspaceId, id } of expired) {
    await failsAlone(logger, NAME, { import_id: id, workspace_id: workspaceId }, async () => {
      await removeImport(workers, workspaceId, id)
      removed++
    })
  }
  return { removed, last: expired.at(-1) }
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
