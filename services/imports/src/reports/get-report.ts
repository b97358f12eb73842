import { ERRORS_SHOWN, ImportReport, type ReportedError } from '@backoffice/contracts/import.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { readSizedValue } from '@backoffice/postgres/lists/sized-rows.ts'
import { failureOf, findImport, importCounts } from '../imports/import-row.ts'

/** GET /v1/imports/{id}/errors (spec: Imports): the report of the validation, then of the applying too. */
export const getReport = operation({
  operationId: 'getImportReport',
  method: 'GET',
  path: '/v1/imports/{id}/errors',
  summary: 'Get the validation report of an import',
  scope: 'import::read',
  responses: { 200: ImportReport },
  openPoints: ['OP-51', 'OP-52', 'OP-56', 'OP-146', 'OP-189'],

  handle: ({ params: { id }, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const found = await findImport(tx, id)
      const shown = [...failureOf(found), ...(await validationErrors(tx, id)), ...(await firstOfApplying(tx, id))]
      const errors = shown.toSorted((a, b) => a.row - b.row).slice(0, ERRORS_SHOWN)
      const aboutFile = shown.filter(({ row }) => row === 1).length
      const all = aboutFile + found.invalid_rows + found.failed
      return ok({
        import_id: id,
        status: found.status,
        summary: { ...importCounts(found), errors, errors_truncated: all > ERRORS_SHOWN },
      })
    }),
})

/** The first errors that validation found. */
async function validationErrors(tx: Transaction, id: string): Promise<readonly ReportedError[]> {
  const errors = await readSizedValue<ReportedError[]>(tx, {
    value: tx`errors`,
    bytes: tx`octet_length(errors::text)`,
    source: tx`from import_finding where workspace_id = ${tx.context.workspaceId} and import_id = ${id}`,
  })
  return errors ?? []
}

/** The first errors of rows that were valid and could not be applied. */
async function firstOfApplying(tx: Transaction, id: string): Promise<ReportedError[]> {
  const batches = await tx<{ errors: ReportedError[] }[]>`
    select errors from (
      select batch, errors, coalesce(sum(failed) over (
        order by batch rows between unbounded preceding and 1 preceding
      ), 0) as failed_before
      from import_batch
      where workspace_id = ${tx.context.workspaceId} and import_id = ${id} and failed > 0
    ) failed_batch
    where failed_before < ${ERRORS_SHOWN}
    order by batch`
  return batches.flatMap(({ errors }) => errors)
}
