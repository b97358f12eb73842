import type { Transaction } from '@backoffice/postgres/database.ts'
import type { OutboxRecord } from '@backoffice/postgres/outbox.ts'
import type { FileStorage } from '@backoffice/storage/file-storage.ts'

/** What a service does besides the usual when a workspace is suspended, resumed or deleted. */
export interface WorkspaceHooks {
  /** Run in the transaction of the record, inside the workspace; `at` is when the operator did it. May come again. */
  onSuspended?(tx: Transaction, at: Date): Promise<void>
  onResumed?(tx: Transaction, at: Date): Promise<void>
  onDeleted?(tx: Transaction, at: Date): Promise<void>
  /** Whether rows of a deleted workspace may be deleted now. Holds the deletion back for 24 hours at most. */
  isReadyForDeletion?(tx: Transaction): Promise<boolean>
  /** Storage whose files are in a folder named after their workspace. */
  readonly files?: Pick<FileStorage, 'countFiles' | 'removeFolder'>
  /** By table: the record to publish for each deleted row, by the row's id. */
  readonly recordsOfDeleted?: Readonly<Record<string, (id: string) => OutboxRecord>>
  /** Tables whose rows stay when their workspace is deleted. */
  readonly keptTables?: readonly string[]
}
