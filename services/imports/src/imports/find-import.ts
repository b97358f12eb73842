import { notFound } from '@backoffice/contracts/errors.ts'
import { Id } from '@backoffice/contracts/fields.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { type ImportRow, importColumns } from './import-row.ts'

export const ImportPath = z.strictObject({ id: Id })

/** Reads an import of the workspace. Throws `not_found`. */
export async function findImport(tx: Transaction, id: string): Promise<ImportRow> {
  const [row] = await tx<ImportRow[]>`
    select ${importColumns(tx)} from import where workspace_id = ${tx.context.workspaceId} and id = ${id}`
  return row ?? unknownImport(id)
}

export function unknownImport(id: string): never {
  throw notFound(['id'], `this workspace has no import ${id}`)
}
