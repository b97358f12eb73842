import type { Database } from '@backoffice/postgres/database.ts'
import { inImport } from '../imports/import-row.ts'
import type { AskingImport } from '../imports/owner-client.ts'
import type { WorkerContext } from '../imports/worker-context.ts'

/** A claim ends after so long; one step takes a fraction of it. */
const LEASE = '20 seconds'
/** Undos whose next steps are taken one after the other. */
const BATCH_SIZE = 4

/**
 * Claims the next steps of undos: of each workspace the undo that was requested first, and the workspaces round robin.
 * An undo waits for batches that are under way in its workspace; no further ones are published meanwhile.
 */
export async function claimUndos({ db, worker }: Pick<WorkerContext, 'db' | 'worker'>): Promise<AskingImport[]> {
  const running = await worker.sql<AskingImport[]>`
    select import.id, import.workspace_id as "workspaceId", livemode, template, product_statuses as "productStatuses"
    from (
      select distinct on (workspace_id) * from import_undo where status = 'RUNNING' order by workspace_id, requested_at, import_id
    ) as first_of_workspace
    join import on import.workspace_id = first_of_workspace.workspace_id and import.id = first_of_workspace.import_id
    where coalesce(first_of_workspace.claimed_until <= clock_timestamp(), true) and not exists (
      select from import as busy
      where busy.workspace_id = import.workspace_id and busy.started_at is not null and busy.ended_at is null
        and busy.next_batch > busy.answered_batches
    )
    order by stepped_at nulls first limit ${BATCH_SIZE}`
  const claimed = await Promise.all(running.map((undo) => claimStep(db, undo)))
  return running.filter((_, index) => claimed[index])
}

/** Claims one step; false when another replica was faster. */
const claimStep = (db: Database, undo: AskingImport): Promise<boolean> =>
  inImport(db, undo, async (tx) => {
    const claimed = await tx`
      update import_undo set stepped_at = clock_timestamp(), claimed_until = clock_timestamp() + ${LEASE}::interval
      where workspace_id = ${undo.workspaceId} and import_id = ${undo.id} and status = 'RUNNING'
        and coalesce(claimed_until <= clock_timestamp(), true)`
    return claimed.count === 1
  })
