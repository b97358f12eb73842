import type { ReportedError } from '@backoffice/contracts/import.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'

/** The first errors that validation found. */
export async function validationErrors(tx: Transaction, id: string): Promise<readonly ReportedError[]> {
  const [finding] = await tx<{ errors: ReportedError[] }[]>`
    select errors from import_finding where workspace_id = ${tx.context.workspaceId} and import_id = ${id}`
  return finding?.errors ?? []
}

/** Why an import failed as a whole: an error of row 1, since the report has no other place (OP-52). */
export const failureOf = ({ failure }: { readonly failure: string | null }): ReportedError[] =>
  failure === null ? [] : [{ row: 1, column: '', code: 'unprocessable', message: failure, value: null }]
