import type { Database } from '@backoffice/postgres/database.ts'
import { refuseWrongClock } from '@backoffice/postgres/database-clock.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { inBatches, worker } from '@backoffice/runtime/worker.ts'

const EVERY_MS = 60_000
const BATCH_SIZE = 20
/** Rows of a resource each that one statement deletes: an import may have millions. */
export const CHUNK_SIZE = 5000
/** An import can be undone for 24 hours (OP-151), and the undo takes some time. An undo goes on for so long. */
export const KEEP_DAYS = 3
/** The changes of an undo stay a little longer: its last step may have just begun. */
const STEP_HOURS = 1
/** Well beyond the week that the topic keeps a batch, which may go on until then. */
const BEGUN_DAYS = 30

/** Deletes what is kept of imports that can no longer be undone or go on. `db` connects as the worker role. */
export const expireImportedChanges = ({ sql }: Database, logger: Logger) =>
  worker({
    name: 'imported changes',
    everyMs: EVERY_MS,
    logger,
    async work(stopping) {
      await refuseWrongClock(sql)
      await inBatches(CHUNK_SIZE, () => deleteUndone(sql))(stopping)
      await inBatches(CHUNK_SIZE, () => deleteRestored(sql))(stopping)
      await inBatches(BATCH_SIZE, () => deleteBatches(sql))(stopping)
      await inBatches(BATCH_SIZE, () => deleteBegun(sql))(stopping)
    },
  })

/**
 * Deletes some changes of expired undos, then the expired undos that have none left. An undo that has ended has none.
 * Returns how many changes.
 */
export async function deleteUndone(sql: Database['sql']): Promise<number> {
  const { count } = await sql`
    delete from undone_change where ctid = any(array(
      select change.ctid from undone_import join undone_change as change using (workspace_id, import_id)
      where stepped_at < now() - make_interval(days => ${KEEP_DAYS}, hours => ${STEP_HOURS})
      limit ${CHUNK_SIZE}
    ))`
  await sql`
    delete from undone_import as undone
    where stepped_at < now() - make_interval(days => ${KEEP_DAYS}, hours => ${STEP_HOURS}) and not exists (
      select from undone_change where workspace_id = undone.workspace_id and import_id = undone.import_id
    )`
  return count
}

/** Deletes some expired versions that undos have given resources. Returns how many. */
export async function deleteRestored(sql: Database['sql']): Promise<number> {
  const { count } = await sql`
    delete from restored_version where ctid = any(array(
      select ctid from restored_version where restored_at < now() - make_interval(days => ${KEEP_DAYS})
      order by restored_at limit ${CHUNK_SIZE}
    ))`
  return count
}

/**
 * Deletes some batches of imports whose last batch has expired and that have no undo under way, so that no import is
 * undone in part. Returns how many.
 */
export async function deleteBatches(sql: Database['sql']): Promise<number> {
  const { count } = await sql`
    delete from imported_batch where ctid = any(array(
      select ctid from imported_batch as batch where applied_at < now() - make_interval(days => ${KEEP_DAYS}) and (
        select applied_at from imported_batch
        where workspace_id = batch.workspace_id and import_id = batch.import_id order by id desc limit 1
      ) < now() - make_interval(days => ${KEEP_DAYS}) and not exists (
        select from undone_import where workspace_id = batch.workspace_id and import_id = batch.import_id
      )
      order by applied_at limit ${BATCH_SIZE}
    ))`
  return count
}

/** Deletes some begun batches that went to the dead letters before their last rows. Returns how many. */
export async function deleteBegun(sql: Database['sql']): Promise<number> {
  const { count } = await sql`
    delete from begun_batch where ctid = any(array(
      select ctid from begun_batch where begun_at < now() - make_interval(days => ${BEGUN_DAYS}) limit ${BATCH_SIZE}
    ))`
  return count
}
