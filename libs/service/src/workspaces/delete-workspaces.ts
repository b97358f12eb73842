import { type Database, enter, type Transaction } from '@backoffice/postgres/database.ts'
import { inTransaction } from '@backoffice/postgres/transaction.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import { restAfter } from '@backoffice/runtime/give-way.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { noteFailure } from '@backoffice/runtime/worker-failures.ts'
import { deleteRows } from './delete-rows.ts'
import { type Deletion, endPass, nextDeletion, postpone } from './deletion-passes.ts'
import type { WorkspaceHooks } from './workspace-hooks.ts'
import { readByIndexes, rowsOf, workspaceTables } from './workspace-tables.ts'

const NAME = 'deleted workspaces'
const EVERY_MS = 1000
const TRY_AGAIN_S = 1
/** A deletion that fails is tried again after this, so that others have their turns. */
const AFTER_FAILURE_S = 5
/** `isReadyForDeletion` holds a deletion back for so long at most. */
const HELD_BACK_MS = 24 * 60 * 60 * 1000

interface Deleting {
  /** Connects as the app role. */
  readonly db: Database
  readonly hooks: WorkspaceHooks
  readonly wakeRelay: () => void
  readonly logger: Logger
}

/**
 * Deletes the rows and files of deleted workspaces (decision 025), a batch of one after a batch of another. It rests as
 * long as it works: half of one connection at most. Replicas share the work.
 */
export const deleteWorkspaces = (deleting: Deleting) =>
  worker({
    name: NAME,
    everyMs: EVERY_MS,
    logger: deleting.logger,
    work: async () => {
      const startedAt = performance.now()
      if (await deleteSome(deleting, currentTime())) return restAfter(startedAt)
    },
  })

/**
 * Works on one batch of the deletion that has waited longest; one that fails is logged and tried again. Returns false
 * when there was nothing to do.
 */
export async function deleteSome(deleting: Deleting, now: Date): Promise<boolean> {
  const { db, wakeRelay, logger } = deleting
  let workspaceId: string | undefined
  try {
    const batch = await inTransaction(db.sql, async (begun) => {
      const deletion = await nextDeletion(begun, now)
      if (deletion === undefined) return undefined
      workspaceId = deletion.workspaceId
      return inside(begun, deletion, (tx) => deleteBatch(tx, deletion, deleting, now))
    })
    if (batch === undefined || workspaceId === undefined) return false
    if (batch.hasPublished) wakeRelay()
    if (batch.isDone) await endIfEmpty(workspaceId, deleting, now)
  } catch (error) {
    if (workspaceId === undefined) throw error
    noteFailure(logger, NAME, error, { workspace_id: workspaceId })
    await postpone(db.sql, workspaceId, now, AFTER_FAILURE_S)
  }
  return true
}

const inside = <Result>(
  begun: Parameters<typeof enter>[0],
  { workspaceId, livemode }: Deletion,
  work: (tx: Transaction) => Promise<Result>,
) => {
  const context = { workspaceId, livemode, traceparent: traceparentFrom(undefined), actor: 'workspace deletion' }
  return enter(begun, context, work)
}

/** `isDone` when no row was left. */
async function deleteBatch(tx: Transaction, deletion: Deletion, { hooks }: Deleting, now: Date) {
  await readByIndexes(tx)
  const isHeldBack = now.getTime() < deletion.notedAt.getTime() + HELD_BACK_MS
  if (isHeldBack && (await hooks.isReadyForDeletion?.(tx)) === false) {
    await postpone(tx, deletion.workspaceId, now, TRY_AGAIN_S)
    return { isDone: false, hasPublished: false }
  }
  const deleted = await deleteRows(tx, await workspaceTables(tx, hooks.keptTables), hooks, now)
  const isDone = deleted === 0 && (await isEmpty(tx, deletion, hooks, now))
  return { isDone, hasPublished: tx.published.size > 0 }
}

/** Whether no row is left. Else the deletion waits, such as for its tombstones to be published. */
async function isEmpty(tx: Transaction, { workspaceId }: Deletion, hooks: WorkspaceHooks, now: Date): Promise<boolean> {
  const rows = await rowsOf(tx, hooks)
  if (Object.keys(rows).length === 0) return true
  await postpone(tx, workspaceId, now, TRY_AGAIN_S)
  return false
}

/** Removes the files, which can take long and so is in no transaction, and ends the pass when nothing is left. */
async function endIfEmpty(workspaceId: string, { db, hooks }: Deleting, now: Date): Promise<void> {
  await hooks.files?.removeFolder(workspaceId)
  await inTransaction(db.sql, async (begun) => {
    const [deletion] = await begun<Deletion[]>`
      select workspace_id as "workspaceId", livemode, noted_at as "notedAt" from deleted_workspace
      where workspace_id = ${workspaceId} and next_pass_at <= ${now} for update`
    if (deletion === undefined) return
    await inside(begun, deletion, async (tx) => {
      if (await isEmpty(tx, deletion, hooks, now)) await endPass(tx, deletion, now)
    })
  })
}
