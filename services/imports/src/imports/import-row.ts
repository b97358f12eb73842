import { notFound } from '@backoffice/contracts/errors.ts'
import { type Import, ImportCounts, type ReportedError } from '@backoffice/contracts/import.ts'
import type { AnySql, Database, Transaction } from '@backoffice/postgres/database.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'

/** The columns of an import that the API shows. */
export interface ImportRow extends ImportCounts, Pick<Import, 'id' | 'template' | 'file' | 'status'> {
  /** Why the import FAILED, or will fail. */
  readonly failure: string | null
  readonly created_at: Date
  readonly updated_at: Date
  /** When nothing of it was under way any more; null before. */
  readonly ended_at: Date | null
}

export const importColumns = (sql: AnySql) => sql`
  id, template, file, status, failure, total_rows, valid_rows, invalid_rows, created, updated, failed, created_at, updated_at,
  ended_at`

/** The import as the API shows it (OP-50). */
export const importBody = (row: ImportRow): Import => ({
  id: row.id,
  template: row.template,
  file: row.file,
  status: row.status,
  total_rows: row.total_rows,
  processed_rows: row.created + row.updated + row.failed,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

const Counts = ImportCounts.strip()

/** The numbers of its report (OP-52). */
export const importCounts = (row: ImportRow): ImportCounts => Counts.parse(row)

/** An error of the file as a whole: of row 1, since the report has no other place (OP-52). */
export const aboutFile = (
  code: ReportedError['code'],
  message: string,
  value: string | null = null,
): ReportedError => ({ row: 1, column: '', code, message, value })

/** Why an import failed as a whole. */
export const failureOf = ({ failure }: { readonly failure: string | null }): ReportedError[] =>
  failure === null ? [] : [aboutFile('unprocessable', failure)]

/** Reads an import of the workspace. Throws `not_found`. */
export async function findImport(tx: Transaction, id: string): Promise<ImportRow> {
  const [row] = await tx<ImportRow[]>`
    select ${importColumns(tx)} from import where workspace_id = ${tx.context.workspaceId} and id = ${id}`
  return row ?? unknownImport(id)
}

export function unknownImport(id: string): never {
  throw notFound(['id'], `this workspace has no import ${id}`)
}

/** An import, and the workspace in which a worker works on it. */
export interface ImportKey {
  readonly workspaceId: string
  readonly id: string
  readonly livemode: boolean
}

/** Runs a transaction of a worker in the workspace of an import, in the import's name. */
export const inImport = <Result>(
  db: Database,
  { workspaceId, id, livemode }: ImportKey,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> =>
  db.inWorkspace({ workspaceId, livemode, traceparent: traceparentFrom(undefined), actor: `import ${id}` }, work)
