import type { ReportedError } from '@backoffice/contracts/import.ts'
import type { Database, Transaction, WorkspaceContext } from '@backoffice/postgres/database.ts'
import type { FileStorage } from '@backoffice/storage/file-storage.ts'
import { openCsv } from '../files/open-csv.ts'
import { type ImportRow, unknownImport } from '../imports/import-row.ts'

/** Where the files of imports are, and what is known of them. */
export interface ImportFiles {
  readonly db: Database
  readonly storage: FileStorage
}

/** An import, as far as its files are concerned. */
export interface StoredImport extends Pick<ImportRow, 'id' | 'status' | 'failure'> {
  /** Names the files of its validation; null until they are there. */
  readonly claim: string | null
}

/** Reads what leads to the files of an import. Throws `not_found`. */
export async function findStored(tx: Transaction, id: string): Promise<StoredImport> {
  const [found] = await tx<StoredImport[]>`
    select id, status, failure, case when exists (
      select from import_finding where workspace_id = ${tx.context.workspaceId} and import_id = ${id}
    ) then claim end as claim
    from import where workspace_id = ${tx.context.workspaceId} and id = ${id}`
  return found ?? unknownImport(id)
}

/** The columns of a stored file, one of which is `known`, and the separator between them. */
export async function storedHeader(storage: FileStorage, path: string, known: string) {
  const content = await storage.read(path)
  const { delimiter, rows } = await openCsv(content, (cell) => cell === known)
  const { value } = await rows.next()
  await rows.return(undefined)
  content.destroy()
  return { delimiter, columns: value?.cells ?? [] }
}

/** Batches that are read with one statement. */
const BATCHES_TOGETHER = 20

/** The batches of an import with rows that could not be applied, in their order, and where their rows are stored. */
export async function* failedBatches(db: Database, context: WorkspaceContext, id: string) {
  for (let after = -1; ; ) {
    const batches = await db.inWorkspace(
      context,
      (tx) => tx<{ batch: number; first_byte: number; bytes: number; errors: ReportedError[] }[]>`
        select batch, first_byte, bytes, errors from import_batch
        where workspace_id = ${context.workspaceId} and import_id = ${id} and failed > 0 and batch > ${after}
        order by batch limit ${BATCHES_TOGETHER}`,
    )
    yield* batches
    const last = batches.at(-1)
    if (last === undefined) return
    after = last.batch
  }
}
