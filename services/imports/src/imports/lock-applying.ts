import type { Transaction } from '@backoffice/postgres/database.ts'

/**
 * Held until the end of the transaction by who starts an import of the workspace, publishes batches or claims a step of
 * an undo: each of them finds in its next statement what the other has written. So no batch is applied during an undo,
 * and no more imports wait than may.
 */
export const lockApplying = (tx: Transaction) =>
  tx`select pg_advisory_xact_lock(hashtextextended(${`${tx.context.workspaceId} applying`}, 0))`
