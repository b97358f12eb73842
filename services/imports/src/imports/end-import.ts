import { TOPICS } from '@backoffice/contracts/events.ts'
import type { ImportStatus } from '@backoffice/contracts/import.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'
import { type ImportRow, importColumns, importCounts } from './import-row.ts'

/**
 * Ends an import whose batches are all answered, and publishes import.completed (OP-72). Call it in the transaction that changed the
 * import's row: the lock on the row and `ended_at` make the event come once. The times of the row are the database's, since its files are
 * kept by them; `now` is that of the event.
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
  const event = outboxRecord(TOPICS.importsEvents, 'import.completed', id, {
    id,
    template,
    status,
    summary: importCounts(ended),
  })
  await publish(tx, [event], now)
}
