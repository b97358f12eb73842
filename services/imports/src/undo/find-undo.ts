import type { ImportUndo } from '@backoffice/contracts/import.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'

/** The undo of an import as the API shows it; undefined when nobody asked for one. */
export async function findUndo(tx: Transaction, id: string): Promise<ImportUndo | undefined> {
  const [undo] = await tx<ImportUndo[]>`
    select import_id, status, deleted, restored, kept, kept_rows as rows from import_undo
    where workspace_id = ${tx.context.workspaceId} and import_id = ${id}`
  return undo
}
