import type { Database } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { inBatches, worker } from '@backoffice/runtime/worker.ts'

const EVERY_MS = 60_000
const BATCH_SIZE = 20
/** An import can be undone for 24 hours (OP-151), and the undo takes some time. */
const KEEP_DAYS = 3

/** Deletes what is kept of imports that can no longer be undone. `db` connects as the worker role. */
export const expireImportedChanges = (db: Database, logger: Logger) =>
  worker({
    name: 'imported changes',
    everyMs: EVERY_MS,
    logger,
    work: inBatches(BATCH_SIZE, () => deleteExpired(db)),
  })

/**
 * Deletes expired undos and some batches of imports whose last one has expired and that no undo may go on with, so that
 * none is undone in part; returns the batches. An ended undo has no other rows.
 */
export async function deleteExpired({ sql }: Database): Promise<number> {
  await sql`delete from undone_import where stepped_at < now() - make_interval(days => ${KEEP_DAYS})`
  await sql`delete from restored_version where restored_at < now() - make_interval(days => ${KEEP_DAYS})`
  const deleted = await sql`
    delete from imported_batch where ctid = any(array(
      select ctid from imported_batch as batch where applied_at < now() - make_interval(days => ${KEEP_DAYS}) and (
        select applied_at from imported_batch
        where workspace_id = batch.workspace_id and import_id = batch.import_id order by id desc limit 1
      ) < now() - make_interval(days => ${KEEP_DAYS}) and not exists (
        select from undone_import where workspace_id = batch.workspace_id and import_id = batch.import_id
      )
      order by applied_at limit ${BATCH_SIZE}
    ))`
  return deleted.count
}
