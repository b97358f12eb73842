import type { Database, Transaction } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import type { FileStorage } from '@backoffice/storage/file-storage.ts'
import { pathsOf } from '../files/file-paths.ts'

const EVERY_MS = 60_000
const BATCH_SIZE = 50
const KEEP_DAYS = 30

/** The connections and files. `worker` connects as the worker role, `db` as the app role. */
interface Expiring {
  readonly db: Database
  readonly worker: Database
  readonly storage: FileStorage
}

/** Removes imports with their files and reports 30 days after their last change (OP-146), by the clock of the database. */
export const removeExpired = (expiring: Expiring, logger: Logger) =>
  worker({
    name: 'expired imports',
    everyMs: EVERY_MS,
    logger,
    async work(stopping) {
      while ((await removeBatch(expiring)) === BATCH_SIZE && !stopping.aborted);
    },
  })

/** Removes some expired imports, the files before the rows: a crash between the two repeats both. Returns their number. */
export async function removeBatch({ db, worker, storage }: Expiring): Promise<number> {
  const expired = await worker.sql<{ workspace_id: string; id: string }[]>`
    select workspace_id, id from import
    where updated_at < now() - make_interval(days => ${KEEP_DAYS}) and (started_at is null or ended_at is not null)
    order by updated_at limit ${BATCH_SIZE}`
  for (const { workspace_id: workspaceId, id } of expired) {
    const context = { workspaceId, livemode: true, traceparent: traceparentFrom(undefined), actor: 'expiry' }
    const ended = await db.inWorkspace(context, (tx) => endExpired(tx, id))
    if (ended === undefined) continue
    await storage.remove(pathsOf({ workspaceId, id, claim: ended.claim }))
    await db.inWorkspace(context, async (tx) => {
      await tx`delete from import where workspace_id = ${workspaceId} and id = ${id}`
    })
  }
  return expired.length
}

/** Ends an import that is still expired, so that it can no longer be started, and returns what names its files. */
async function endExpired(tx: Transaction, id: string): Promise<{ claim: string | null } | undefined> {
  const [ended] = await tx<{ claim: string | null }[]>`
    update import set
      ended_at = coalesce(ended_at, now()), status = case when ended_at is null then 'CANCELLED' else status end
    where workspace_id = ${tx.context.workspaceId} and id = ${id}
      and updated_at < now() - make_interval(days => ${KEEP_DAYS}) and (started_at is null or ended_at is not null)
    returning claim`
  return ended
}
