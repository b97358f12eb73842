import type { Transaction } from '@backoffice/postgres/database.ts'
import { endIfAnswered } from './end-import.ts'

/**
 * Ends an import as FAILED. While it is being validated it ends at once; while it is being applied, no further batch is published and
 * it ends with the answer to the last one. `reason` is shown in its report.
 */
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
