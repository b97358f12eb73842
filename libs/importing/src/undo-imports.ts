import { notFound } from '@backoffice/contracts/errors.ts'
import { ImportUndoProgress, ImportUndoStep, KEPT_ROWS_SHOWN, type KeptRow } from '@backoffice/contracts/imports.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { KEEP_DAYS } from './expire-imported-changes.ts'
import { lockImport } from './import-lock.ts'
import { type Importers, type ImportUndo, importerOf, type UndoneChange, type UndoOutcome } from './importer.ts'
import { throttled } from './throttle.ts'

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

const CHANGED_BETWEEN: UndoOutcome = { outcome: 'kept', reason: 'was changed while the import was applied' }

type CollectedChange = UndoneChange & {
  /** The version that the import found. */
  readonly version_before: string | null
}

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
      return throttled(() =>
        inWorkspace(async (tx) => {
          const before = await lockProgress(tx, id)
          const after = await takeStep(tx, id, importer.undo, before, now)
          await writeProgress(tx, id, after)
          const { step, reached: _, kept_rows: rows, ...counts } = after
          return ok({ ...counts, rows, is_done: step === 'DONE' })
        }),
      )
    },
  })

/**
 * Locks the undo: calls for one import take turns, and its batches too. Throws `not_found` when no changes of it are
 * stored, or its last step is so long ago that they are being deleted.
 */
async function lockProgress(tx: Transaction, id: string): Promise<Progress> {
  const workspace = tx.context.workspaceId
  await lockImport(tx, id)
  await tx`
    insert into undone_import (workspace_id, import_id)
    select ${workspace}, ${id}
    where exists (select from imported_batch where workspace_id = ${workspace} and import_id = ${id})
    on conflict do nothing`
  const [progress] = await tx<Progress[]>`
    select step, reached, deleted, restored, kept, kept_rows from undone_import
    where workspace_id = ${workspace} and import_id = ${id} and stepped_at > now() - make_interval(days => ${KEEP_DAYS})
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
  const undone = await undo(tx, changes, now, id)
  const outcomes = undone.map((outcome, index) => (changes[index]?.version === null ? CHANGED_BETWEEN : outcome))
  const handled = changes.slice(0, outcomes.length)
  await deleteChanges(tx, id, handled)
  await noteRestored(tx, handled, outcomes)
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
      insert into undone_change as known (workspace_id, import_id, id, key, former, version_before, version)
      select
        ${workspace}, ${importId}, row.id, row.key, row.former, row.version_before,
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

/**
 * The newest resources first: a resource that depends on another one, such as a child category, is newer. One whose
 * later import was undone has the version that the undo gave it.
 */
const nextChanges = (tx: Transaction, id: string, isOfCreated: boolean, reached: string | null) => tx<
  CollectedChange[]
>`
  select
    change.id, key, former, version_before, case when same_as = change.version then restored.version else change.version end as version
  from undone_change as change
  left join restored_version as restored on restored.workspace_id = ${tx.context.workspaceId} and restored.id = change.id
  where change.workspace_id = ${tx.context.workspaceId} and import_id = ${id} and (former is null) = ${isOfCreated}
    and change.id < ${reached ?? 'ffffffff-ffff-ffff-ffff-ffffffffffff'}
  order by change.id desc limit ${STEP_SIZE}`

/** Notes which versions have the values of earlier ones, so that the imports before can be undone too (OP-191). */
async function noteRestored(
  tx: Transaction,
  changes: readonly CollectedChange[],
  outcomes: readonly UndoOutcome[],
): Promise<void> {
  const restored = changes.flatMap(({ id, version_before: same_as }, index) => {
    const outcome = outcomes[index]
    if (outcome?.outcome !== 'restored' || outcome.version === undefined || same_as === null) return []
    return { id, version: outcome.version, same_as }
  })
  if (restored.length === 0) return
  await tx`
    insert into restored_version as known (workspace_id, id, version, same_as)
    select ${tx.context.workspaceId}, id, version, same_as
    from json_to_recordset(${JSON.stringify(restored)}::text::json) as (id uuid, version text, same_as text)
    on conflict (workspace_id, id) do update set
      version = excluded.version, restored_at = excluded.restored_at,
      same_as = case when known.version = excluded.same_as then known.same_as else excluded.same_as end`
}

const deleteChanges = (tx: Transaction, id: string, changes: readonly CollectedChange[]) => tx`
  delete from undone_change
  where workspace_id = ${tx.context.workspaceId} and import_id = ${id} and id = any(${changes.map((one) => one.id)}::uuid[])`

const writeProgress = (tx: Transaction, id: string, progress: Progress) => tx`
  update undone_import set
    step = ${progress.step}, reached = ${progress.reached}, deleted = ${progress.deleted}, restored = ${progress.restored},
    kept = ${progress.kept}, kept_rows = ${JSON.stringify(progress.kept_rows)}::text::json, stepped_at = now()
  where workspace_id = ${tx.context.workspaceId} and import_id = ${id}`
