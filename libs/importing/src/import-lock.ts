import type { Transaction } from '@backoffice/postgres/database.ts'

/**
 * Lets batches and steps of the undo of one import take turns, until the end of the transaction. Read what the other
 * has written in a later statement.
 */
export const lockImport = (tx: Transaction, importId: string) =>
  tx`select pg_advisory_xact_lock(hashtextextended(${`${tx.context.workspaceId} import ${importId}`}, 0))`
