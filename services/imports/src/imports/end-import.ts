import { ApiError } from '@backoffice/contracts/errors.ts'
import { TOPICS } from '@backoffice/contracts/events.ts'
import type { ImportStatus } from '@backoffice/contracts/import.ts'
import type { Database, Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import { type ImportKey, type ImportRow, importColumns, importCounts, inImport } from './import-row.ts'
import { GIVE_UP_AFTER, PAUSE } from './retries.ts'

/**
 * Ends an import whose batches are all answered, and publishes import.completed (OP-72). Call it in the transaction
 * that changed the import's row: the lock on the row and `ended_at` make the event come once. The times of the row are
 * the database's, since its files are kept by them; `now` is that of the event.
 */
export async function endIfAnswered(tx: Transaction, id: string, now: Date): Promise<void> {
  const [ended] = await tx<ImportRow[]>`
    update import set
      ended_at = now(), updated_at = now(),
      status = case
        when status = 'CANCELLED' then status
        when failure is not null then ${'FAILED' satisfies ImportStatus}
        when failed + invalid_rows > 0 then ${'COMPLETED_WITH_ERRORS' satisfies ImportStatus}
        else ${'COMPLETED' satisfies ImportStatus}
      end
    where workspace_id = ${tx.context.workspaceId} and id = ${id}
      and started_at is not null and ended_at is null and answered_batches >= ends_at_batch
    returning ${importColumns(tx)}`
  if (ended === undefined) return
  const { template, status } = ended
  const data = { id, template, status, summary: importCounts(ended) }
  await publish(tx, [outboxRecord(TOPICS.importsEvents, 'import.completed', id, data)], now)
}

/** Ends an import as FAILED; one that is applied, once its published batches are answered. `reason` is reported. */
export async function failImport(tx: Transaction, id: string, reason: string, now: Date): Promise<void> {
  await tx`
    update import set
      failure = ${reason}, updated_at = now(),
      status = case when status = 'IMPORTING' then status else 'FAILED' end,
      ended_at = case when status = 'IMPORTING' then null else now() end,
      ends_at_batch = least(ends_at_batch, next_batch)
    where workspace_id = ${tx.context.workspaceId} and id = ${id} and status in ('UPLOADED', 'VALIDATING', 'IMPORTING')`
  await endIfAnswered(tx, id, now)
}

/**
 * Notes that work on an import failed, and lets it be tried again a moment later. An import that has failed for longer
 * than `giveUpAfter` (an interval of PostgreSQL) ends as FAILED; what is applied stays. A validation begins at row 1
 * again: when one was tried for so long and fails well before its former row, that is another failure, and its time
 * begins anew. A full disk ends it at about the same row. Another replica may hold the claim by now: then nothing
 * changes.
 */
export async function recordFailure(
  db: Database,
  failing: ImportKey & { readonly claim: string },
  error: unknown,
  giveUpAfter = GIVE_UP_AFTER,
): Promise<void> {
  const { workspaceId, id, claim } = failing
  const reason = error instanceof ApiError ? error.message : 'an internal error'
  await inImport(db, failing, async (tx) => {
    const isAnother = tx`
      status = 'VALIDATING' and claimed_at <= now() - ${giveUpAfter}::interval and total_rows < 0.9 * failed_at_row`
    const [{ is_over: isOver = false } = {}] = await tx<{ is_over: boolean }[]>`
      update import set
        failing_since = case when ${isAnother} then now() else coalesce(failing_since, now()) end,
        failed_at_row = case when ${isAnother} then total_rows else greatest(failed_at_row, total_rows) end,
        claims = 0,
        claimed_until = case when status = 'VALIDATING' then now() + ${PAUSE}::interval end
      where workspace_id = ${workspaceId} and id = ${id} and claim = ${claim} and status in ('VALIDATING', 'IMPORTING')
      returning failing_since <= now() - ${giveUpAfter}::interval as is_over`
    if (isOver) await failImport(tx, id, `gave up after ${giveUpAfter}: ${reason}`, currentTime())
  })
}
