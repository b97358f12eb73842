import type { ImportUndoProgress } from '@backoffice/contracts/imports.ts'
import type { Database, Transaction } from '@backoffice/postgres/database.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import type { OwnerClient } from '../owners/owner-client.ts'
import type { ClaimedUndo } from './claim-undos.ts'

/** What undos need. `worker` connects as the worker role, `db` as the app role. */
export interface Undoing {
  readonly db: Database
  readonly worker: Database
  readonly owners: Pick<OwnerClient, 'undo'>
  readonly logger: Logger
}

/** How long an undo is retried while its owner is away, before it is FAILED. */
const GIVE_UP_AFTER = '10 minutes'
const PAUSE = '3 seconds'

/** Asks the owner for the next step of an undo, and records how far it is. Returns whether the undo has ended. */
export async function takeStep(
  { db, owners, logger }: Undoing,
  undo: ClaimedUndo,
  stopping: AbortSignal,
): Promise<boolean> {
  const { id, workspaceId, livemode } = undo
  const context = { workspaceId, livemode, traceparent: traceparentFrom(undefined), actor: `import ${id}` }
  try {
    const progress = await owners.undo(undo, stopping)
    return await db.inWorkspace(context, (tx) =>
      progress === undefined ? endWithout(tx, id) : recordProgress(tx, id, progress),
    )
  } catch (error) {
    if (stopping.aborted) return false
    logger.warn({ err: error, import_id: id, workspace_id: workspaceId }, 'could not undo an import, trying again')
    return db.inWorkspace(context, (tx) => noteFailure(tx, id)).catch(() => false)
  }
}

/** Records the progress, unless that of a newer answer to another replica is recorded: the numbers only grow. */
async function recordProgress(tx: Transaction, id: string, progress: ImportUndoProgress): Promise<boolean> {
  const { deleted, restored, kept, rows, is_done: isDone } = progress
  await tx`
    update import_undo set
      status = ${isDone ? 'DONE' : 'RUNNING'}, deleted = ${deleted}, restored = ${restored}, kept = ${kept},
      kept_rows = ${JSON.stringify(rows)}::text::json, claimed_until = null, failing_since = null
    where workspace_id = ${tx.context.workspaceId} and import_id = ${id} and status = 'RUNNING'
      and deleted + restored + kept <= ${deleted + restored + kept}`
  return isDone
}

/** Ends an undo when the owner keeps no changes of the import: there were none, or they are no longer kept. */
async function endWithout(tx: Transaction, id: string): Promise<boolean> {
  const workspace = tx.context.workspaceId
  await tx`
    update import_undo set status = case when created + updated = 0 then 'DONE' else 'FAILED' end
    from import
    where import_undo.workspace_id = ${workspace} and import_undo.import_id = ${id} and import_undo.status = 'RUNNING'
      and import.workspace_id = ${workspace} and import.id = ${id}`
  return true
}

async function noteFailure(tx: Transaction, id: string): Promise<boolean> {
  const [{ status } = {}] = await tx<{ status: string }[]>`
    update import_undo set
      failing_since = coalesce(failing_since, now()), claimed_until = clock_timestamp() + ${PAUSE}::interval,
      status = case when failing_since <= now() - ${GIVE_UP_AFTER}::interval then 'FAILED' else status end
    where workspace_id = ${tx.context.workspaceId} and import_id = ${id} and status = 'RUNNING'
    returning status`
  return status === 'FAILED'
}
