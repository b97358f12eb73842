import type { Transaction } from '@backoffice/postgres/database.ts'

/** A resource that an import created or updated. */
export interface ImportedChange {
  readonly id: string
  /** What rows of the template call it, such as its SKU. */
  readonly key: string
  /** The values that the import changed, by name, as they were; null for a resource that it created. */
  readonly former: Readonly<Record<string, unknown>> | null
  /** Texts that differ after each change of the resource; null before it was created. */
  readonly version_before: string | null
  readonly version_after: string
}

/** Keeps what a batch changed, in its transaction, so that the import can be undone (OP-151). */
export const keepChanges = (tx: Transaction, importId: string, changes: readonly ImportedChange[]) => tx`
  insert into imported_batch (workspace_id, import_id, changes)
  values (${tx.context.workspaceId}, ${importId}, ${JSON.stringify(changes)}::text::json)`
