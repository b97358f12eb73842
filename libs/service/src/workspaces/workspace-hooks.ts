import type { Transaction } from '@backoffice/postgres/database.ts'

/** What a service does besides the usual when a workspace is suspended, resumed or deleted. */
export interface WorkspaceHooks {
  /** Run in the transaction of the record, inside the workspace; `at` is when the operator did it. May come again. */
  onSuspended?(tx: Transaction, at: Date): Promise<void>
  onResumed?(tx: Transaction, at: Date): Promise<void>
  onDeleted?(tx: Transaction, at: Date): Promise<void>
}
