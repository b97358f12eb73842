import type { Template } from '@backoffice/contracts/imports.ts'
import type { ProductStatus } from '@backoffice/contracts/product.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'

/** An undo whose next step this replica takes. */
export interface ClaimedUndo {
  readonly id: string
  readonly workspaceId: string
  readonly livemode: boolean
  readonly template: Template
  readonly productStatuses: readonly ProductStatus[]
}

/** A claim ends after so long; one step takes a fraction of it. */
const LEASE = '20 seconds'
/** Undos whose next steps are taken one after the other. */
const BATCH_SIZE = 4

/** The connections: `worker` connects as the worker role, `db` as the app role. */
interface Databases {
  readonly db: Database
  readonly worker: Database
}

/**
 * Claims the next steps of undos, of each workspace the undo that was requested first, and workspaces in turn. An undo waits for
 * batches that are under way in its workspace; no further ones are published meanwhile.
 */
export async function claimUndos({ db, worker }: Databases): Promise<ClaimedUndo[]> {
  const running = await worker.sql<ClaimedUndo[]>`
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
function claimStep(db: Database, { workspaceId, id, livemode }: ClaimedUndo): Promise<boolean> {
  const context = { workspaceId, livemode, traceparent: traceparentFrom(undefined), actor: `import ${id}` }
  return db.inWorkspace(context, async (tx) => {
    const claimed = await tx`
      update import_undo set stepped_at = clock_timestamp(), claimed_until = clock_timestamp() + ${LEASE}::interval
      where workspace_id = ${workspaceId} and import_id = ${id} and status = 'RUNNING'
        and coalesce(claimed_until <= clock_timestamp(), true)`
    return claimed.count === 1
  })
}
