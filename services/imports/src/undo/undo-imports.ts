import type { ImportUndoProgress } from '@backoffice/contracts/imports.ts'
import type { Database, Transaction } from '@backoffice/postgres/database.ts'
import { Tasks } from '@backoffice/runtime/tasks.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { failsAlone, noteFailure } from '@backoffice/runtime/worker-failures.ts'
import { inImport } from '../imports/import-row.ts'
import { lockApplying } from '../imports/lock-applying.ts'
import { type AskingImport, OWNERS, type OwnerClient } from '../imports/owner-client.ts'
import { GIVE_UP_AFTER, LEASE, PAUSE } from '../imports/retries.ts'
import type { WorkerContext } from '../imports/worker-context.ts'

const NAME = 'undos'
const EVERY_MS = 1000
/** Steps of one owner that a replica has under way: while it hangs, the undos of other owners go on. */
const PLACES_OF_OWNER = 2

/**
 * Asks the owners of templates to undo imports, step by step. A process that dies loses nothing: its claim ends, and
 * the owner knows how far it is. Call `wake` after an undo was requested; `onDone` is called after each that ends.
 */
export function undoImports(context: WorkerContext, onDone: () => void) {
  const steps = new Tasks<AskingImport>()
  return worker({
    name: NAME,
    everyMs: EVERY_MS,
    logger: context.logger,
    tasks: steps,
    async work(stopping) {
      for (const undo of await claimUndos(context, steps.items)) {
        steps.begin(undo, async () => {
          if (await takeStep(context, undo, stopping)) onDone()
        })
      }
    },
  })
}

/**
 * Claims the next steps of undos: of each workspace the undo that was requested first, and the workspaces round robin.
 * An undo waits for batches that are under way in its workspace; no further ones are published meanwhile. `underWay`
 * are the undos of this replica whose steps have not ended: a step may take longer than its claim holds.
 */
export async function claimUndos(
  { db, worker }: Pick<WorkerContext, 'db' | 'worker'>,
  underWay: readonly AskingImport[] = [],
): Promise<AskingImport[]> {
  const running = await worker.sql<AskingImport[]>`
    select id, workspace_id as "workspaceId", livemode, template, product_statuses as "productStatuses"
    from (
      select import.*, stepped_at, row_number() over (partition by template order by stepped_at nulls first) as turn
      from (
        select distinct on (workspace_id) * from import_undo
        where status = 'RUNNING' order by workspace_id, requested_at, import_id
      ) as first_of_workspace
      join import on import.workspace_id = first_of_workspace.workspace_id and import.id = first_of_workspace.import_id
      where coalesce(first_of_workspace.claimed_until <= clock_timestamp(), true) and not exists (
        select from import as busy
        where busy.workspace_id = import.workspace_id and busy.started_at is not null and busy.ended_at is null
          and busy.next_batch > busy.answered_batches
      ) and import.id <> all(${underWay.map(({ id }) => id)}::uuid[])
    ) as waiting
    where turn <= ${PLACES_OF_OWNER} order by stepped_at nulls first`
  const next = withPlaces(running, underWay)
  const claimed = await Promise.all(next.map((undo) => claimStep(db, undo)))
  return next.filter((_, index) => claimed[index])
}

/** The first of these undos for which their owners have places. */
function withPlaces(running: readonly AskingImport[], underWay: readonly AskingImport[]): AskingImport[] {
  const taken = new Map<string, number>()
  const take = ({ template }: AskingImport) => {
    const place = (taken.get(OWNERS[template]) ?? 0) + 1
    taken.set(OWNERS[template], place)
    return place <= PLACES_OF_OWNER
  }
  underWay.forEach(take)
  return running.filter(take)
}

/** Claims one step; false when another replica was faster, or batches were published since. */
const claimStep = (db: Database, undo: AskingImport): Promise<boolean> =>
  inImport(db, undo, async (tx) => {
    await lockApplying(tx)
    const claimed = await tx`
      update import_undo set stepped_at = clock_timestamp(), claimed_until = clock_timestamp() + ${LEASE}::interval
      where workspace_id = ${undo.workspaceId} and import_id = ${undo.id} and status = 'RUNNING'
        and coalesce(claimed_until <= clock_timestamp(), true)
        and not exists (
          select from import as busy
          where busy.workspace_id = ${undo.workspaceId} and busy.started_at is not null and busy.ended_at is null
            and busy.next_batch > busy.answered_batches
        )`
    return claimed.count === 1
  })

/** Asks the owner for the next step of an undo, and records how far it is. Returns whether the undo has ended. */
export async function takeStep(
  { db, owners, logger }: Pick<WorkerContext, 'db' | 'logger'> & { readonly owners: Pick<OwnerClient, 'undo'> },
  undo: AskingImport,
  stopping: AbortSignal,
): Promise<boolean> {
  const { id, workspaceId: workspace_id } = undo
  try {
    const progress = await owners.undo(undo, stopping)
    return await inImport(db, undo, (tx) =>
      progress === undefined ? endWithout(tx, id) : recordProgress(tx, id, progress),
    )
  } catch (error) {
    if (stopping.aborted) return false
    const ids = { import_id: id, workspace_id }
    noteFailure(logger, NAME, error, ids)
    // If the failure cannot be recorded either, the claim runs out, and the step is taken again.
    return (await failsAlone(logger, NAME, ids, () => inImport(db, undo, (tx) => recordFailure(tx, id)))) ?? false
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

async function recordFailure(tx: Transaction, id: string): Promise<boolean> {
  const [{ status } = {}] = await tx<{ status: string }[]>`
    update import_undo set
      failing_since = coalesce(failing_since, now()), claimed_until = clock_timestamp() + ${PAUSE}::interval,
      status = case when failing_since <= now() - ${GIVE_UP_AFTER}::interval then 'FAILED' else status end
    where workspace_id = ${tx.context.workspaceId} and import_id = ${id} and status = 'RUNNING'
    returning status`
  return status === 'FAILED'
}
