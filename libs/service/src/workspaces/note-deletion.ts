import type { Transaction } from '@backoffice/postgres/database.ts'

/**
 * Writes down that the transaction's workspace is deleted; a worker deletes its rows. A repeated call changes nothing.
 */
export async function noteDeletion(tx: Transaction): Promise<void> {
  const { workspaceId, livemode } = tx.context
  await tx`
    insert into deleted_workspace (workspace_id, livemode) values (${workspaceId}, ${livemode}) on conflict do nothing`
}
