import type { Import, ImportCounts, ImportStatus } from '@backoffice/contracts/import.ts'
import type { Template } from '@backoffice/contracts/imports.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'

/** The columns of an import that the API shows. */
export interface ImportRow extends ImportCounts {
  readonly id: string
  readonly template: Template
  readonly file: string
  readonly status: ImportStatus
  /** Why the import FAILED, or will fail. */
  readonly failure: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

export const importColumns = (sql: AnySql) => sql`
  id, template, file, status, failure, total_rows, valid_rows, invalid_rows, created, updated, failed, created_at, updated_at`

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

/** The numbers of its report (OP-52). */
export const importCounts = ({ total_rows, valid_rows, invalid_rows, created, updated, failed }: ImportRow) => ({
  total_rows,
  valid_rows,
  invalid_rows,
  created,
  updated,
  failed,
})

/** Imports of a workspace that may wait for their validation, and as many that may be applied or wait for it (OP-150). */
export const MAX_WAITING = 100
