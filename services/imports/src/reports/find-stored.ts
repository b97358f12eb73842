import type { Transaction } from '@backoffice/postgres/database.ts'
import { unknownImport } from '../imports/find-import.ts'
import type { ImportRow } from '../imports/import-row.ts'

/** An import, as far as its files are concerned. */
export interface StoredImport extends Pick<ImportRow, 'id' | 'status' | 'failure' | 'template'> {
  /** Names the files of its validation. */
  readonly claim: string | null
  /** Whether these files are there. */
  readonly isValidated: boolean
}

/** Reads what leads to the files of an import. Throws `not_found`. */
export async function findStored(tx: Transaction, id: string): Promise<StoredImport> {
  const [found] = await tx<StoredImport[]>`
    select id, template, status, failure, claim, exists (
      select from import_finding where workspace_id = ${tx.context.workspaceId} and import_id = ${id}
    ) as "isValidated"
    from import where workspace_id = ${tx.context.workspaceId} and id = ${id}`
  return found ?? unknownImport(id)
}
