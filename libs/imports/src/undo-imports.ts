import { notFound } from '@backoffice/contracts/errors.ts'
import { ImportUndoProgress, ImportUndoStep, KEPT_ROWS_SHOWN, type KeptRow } from '@backoffice/contracts/imports.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { type Importers, type ImportUndo, importerOf, type UndoneChange, type UndoOutcome } from './importer.ts'

/** Resources handled in one transaction. */
const STEP_SIZE = 200

/** How far the undo of an import is. */
interface Progress {
  readonly step: 'COLLECT' | 'FIRST' | 'SECOND' | 'DONE'
  /** The last resource that the step has handled. */
  readonly reached: string | null
  readonly deleted: number
  readonly restored: number
  readonly kept: number
  readonly kept_rows: KeptRow[]
}

type CollectedChange = Omit<UndoneChange, 'version'> & { readonly version: string | null }

/**
 * POST /internal/imports/undo: undoes the next changes of an import (OP-151), and answers how far it is. Each call goes
 * on where the last one ended, so it may be repeated. Throws `not_found` when nothing is kept of the import,
 * `unprocessable` for a template of another service. No event fires, as for imported rows (OP-72).
 */
export const undoImports = (importers: Importers) =>
  operation({
    method: 'POST',
    path: '/internal/imports/undo',
    scope: 'internal',
    body: ImportUndoStep,
    responses: { 200: ImportUndoProgress },

    handle({ body: { import_id: id, template }, now, inWorkspace }) {
      const importer = importerOf(importers, template)
      return inWorkspace(async (tx) => {
        const before = await lockProgress(tx, id)
        const after = await takeStep(tx, id, importer.undo, before, now)
        await writeProgress(tx, id, after)
        const { step, reached: _, kept_rows: rows, ...counts } = after
        return ok({ ...counts, rows, is_done: step === 'DONE' })
      })
    },
  })

/** Locks the undo: calls for one import take turns. Throws `not_found` when no changes of the import are stored. */
async function lockProgress(tx: Transaction, id: string): Promise<Progress> {
  const workspace = tx.context.workspaceId
  await tx`
    insert into undone_import (workspace_id, import_id)
    select ${workspace}, ${id}
    where exists (select from imported_batch where workspace_id = ${workspace} and import_id = ${id})
    on conflict do nothing`
  const [progress] = await tx<Progress[]>`
    select step, reached, deleted, restored, kept, kept_rows from undone_import
    where workspace_id = ${workspace} and import_id = ${id}
    for update`
  if (progress === undefined) throw notFound(['import_id'], `nothing is kept of the import ${id}`)
  return progress
}

async function takeStep(
  tx: Transaction,
  id: string,
  { order, undo }: ImportUndo,
  before: Progress,
  now: Date,
): Promise<Progress> {
  const { step } = before
  if (step === 'DONE') return before
  if (step === 'COLLECT') return (await collectBatch(tx, id)) ? before : { ...before, step: 'FIRST' }
  // Deletions run foreign key checks with cached plans, as batches do (decision 015).
  await tx`discard plans`
  const isOfCreated = (step === 'FIRST') === (order === 'CREATED_FIRST')
  const changes = await nextChanges(tx, id, isOfCreated, before.reached)
  if (changes.length === 0) return { ...before, step: step === 'FIRST' ? 'SECOND' : 'DONE', reached: null }
  const outcomes = await outcomesOf(tx, changes, undo, now)
  const handled = changes.slice(0, outcomes.length)
  await deleteChanges(tx, id, handled)
  const count = (wanted: UndoOutcome['outcome']) => outcomes.filter(({ outcome }) => outcome === wanted).length
  const keptRows = handled.flatMap(({ key }, index): KeptRow[] => {
    const outcome = outcomes[index]
    return outcome?.outcome === 'kept' ? [{ key, reason: outcome.reason }] : []
  })
  return {
    step,
    reached: handled.at(-1)?.id ?? null,
    deleted: before.deleted + count('deleted'),
    restored: before.restored + count('restored'),
    kept: before.kept + count('kept'),
    kept_rows: [...before.kept_rows, ...keptRows].slice(0, KEPT_ROWS_SHOWN),
  }
}

/**
 * Moves the changes of an import's next batch to `undone_change`, with one row per resource. Returns false when no
 * batch is left. Several changes of a resource become its first former values and its last version. When somebody else
 * has changed the resource in between, the row has no version. The caller has locked the undo.
 */
async function collectBatch(tx: Transaction, importId: string): Promise<boolean> {
  const workspace = tx.context.workspaceId
  const [{ batches }] = await tx<[{ batches: number }]>`
    with batch as (
      delete from imported_batch
      where workspace_id = ${workspace} and import_id = ${importId} and id = (
        select min(id) from imported_batch where workspace_id = ${workspace} and import_id = ${importId}
      )
      returning changes
    ), collected as (
      insert into undone_change as known (workspace_id, import_id, id, key, former, version)
      select
        ${workspace}, ${importId}, row.id, row.key, row.former,
        case when earlier.id is null or earlier.version = row.version_before then row.version_after end
      from batch
      cross join json_to_recordset(batch.changes)
        as row (id uuid, key text, former jsonb, version_before text, version_after text)
      left join undone_change as earlier
        on earlier.workspace_id = ${workspace} and earlier.import_id = ${importId} and earlier.id = row.id
      on conflict (workspace_id, import_id, id) do update set
        former = excluded.former || known.former, version = excluded.version
    )
    select count(*) as batches from batch`
  return batches > 0
}

/** The newest resources first: a resource that depends on another one, such as a child category, is newer. */
const nextChanges = (tx: Transaction, id: string, isOfCreated: boolean, reached: string | null) => tx<
  CollectedChange[]
>`
  select id, key, former, version from undone_change
  where workspace_id = ${tx.context.workspaceId} and import_id = ${id} and (former is null) = ${isOfCreated}
    and id < ${reached ?? 'ffffffff-ffff-ffff-ffff-ffffffffffff'}
  order by id desc limit ${STEP_SIZE}`

/** The outcomes in the order of the changes; fewer than changes when `undo` did not get to all of them. */
async function outcomesOf(
  tx: Transaction,
  changes: readonly CollectedChange[],
  undo: ImportUndo['undo'],
  now: Date,
): Promise<UndoOutcome[]> {
  const unchanged = changes.filter((change): change is UndoneChange => change.version !== null)
  const undone = unchanged.length === 0 ? [] : await undo(tx, unchanged, now)
  const outcomes = new Map(unchanged.map(({ id }, index) => [id, undone[index]]))
  const end = changes.findIndex(({ id, version }) => version !== null && outcomes.get(id) === undefined)
  return changes
    .slice(0, end === -1 ? undefined : end)
    .map(({ id }) => outcomes.get(id) ?? { outcome: 'kept', reason: 'was changed while the import was applied' })
}

const deleteChanges = (tx: Transaction, id: string, changes: readonly CollectedChange[]) => tx`
  delete from undone_change
  where workspace_id = ${tx.context.workspaceId} and import_id = ${id} and id = any(${changes.map((one) => one.id)}::uuid[])`

const writeProgress = (tx: Transaction, id: string, progress: Progress) => tx`
  update undone_import set
    step = ${progress.step}, reached = ${progress.reached}, deleted = ${progress.deleted}, restored = ${progress.restored},
    kept = ${progress.kept}, kept_rows = ${JSON.stringify(progress.kept_rows)}::text::json, stepped_at = now()
  where workspace_id = ${tx.context.workspaceId} and import_id = ${id}`
