import type { Transaction } from '@backoffice/postgres/database.ts'

/**
 * Held until the end of the transaction by who publishes batches in the workspace and by who claims a step of an undo:
 * each of them finds in its next statement what the other has written, so no batch is applied during an undo.
 */
export const lockApplying = (tx: Transaction) =>
  tx`select pg_advisory_xact_lock(hashtextextended(${`${tx.context.workspaceId} applying`}, 0))`
