import { conflict, unprocessable } from '@backoffice/contracts/errors.ts'
import { Import } from '@backoffice/contracts/import.ts'
import { type AnyOperation, operation } from '@backoffice/http/operation.ts'
import { accepted } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { IMPORTS_TO_APPLY } from './import-limits.ts'
import { findImport, type ImportRow, importBody, importColumns } from './import-row.ts'
import { lockApplying } from './lock-applying.ts'

const StartQuery = z.strictObject({ skip_invalid: z.enum(['true', 'false']).default('false') })

/** POST /v1/imports/{id}/start (extension of OP-50). `onStarted` is called after the commit. */
export const startImport = (onStarted: () => void): AnyOperation =>
  operation({
    operationId: 'startImport',
    method: 'POST',
    path: '/v1/imports/{id}/start',
    summary: 'Apply a validated import',
    scope: 'import::create',
    query: StartQuery,
    responses: { 202: Import },
    refusals: ['unprocessable'],
    events: ['import.completed'],
    openPoints: ['OP-08', 'OP-13', 'OP-50', 'OP-150', 'OP-55', 'OP-72', 'OP-119'],
    extension: true,

    async handle({ params: { id }, query, context, inWorkspace }) {
      const skipsInvalid = query.skip_invalid === 'true'
      const reply = await inWorkspace(async (tx) => {
        // Starts at the same moment are counted one after the other.
        await lockApplying(tx)
        const [started] = await tx<ImportRow[]>`
          update import set
            status = 'IMPORTING', started_at = now(), updated_at = now(), ends_at_batch = batches, failing_since = null,
            product_statuses = ${context.productStatuses}
          where workspace_id = ${context.workspaceId} and id = ${id} and valid_rows > 0
            and (status = 'VALIDATED' or (status = 'INVALID' and ${skipsInvalid}))
            and (${IMPORTS_TO_APPLY.used(tx)}) < ${IMPORTS_TO_APPLY.most}
          returning ${importColumns(tx)}`
        return accepted(importBody(started ?? (await refuse(tx, id, skipsInvalid))))
      })
      onStarted()
      return reply
    },
  })

/** Throws the reason why an import cannot be started. */
async function refuse(tx: Transaction, id: string, skipsInvalid: boolean): Promise<never> {
  const { status, invalid_rows, valid_rows } = await findImport(tx, id)
  if (status === 'UPLOADED' || status === 'VALIDATING') {
    throw conflict(['status'], `is ${status}; start the import when it is VALIDATED`)
  }
  if (status !== 'VALIDATED' && status !== 'INVALID') {
    throw conflict(['status'], `is ${status}; an import starts once, from VALIDATED or INVALID`)
  }
  if (valid_rows === 0)
    throw unprocessable(['status'], 'is INVALID: the file has no valid row; correct it and upload it')
  if (status === 'VALIDATED' || skipsInvalid) {
    throw conflict(
      ['status'],
      `is ${status}; ${IMPORTS_TO_APPLY.most} imports of this workspace wait already, start it later`,
      'limit_reached',
    )
  }
  throw unprocessable(
    ['status'],
    `is INVALID: ${invalid_rows} rows are bad; correct them, or start with ?skip_invalid=true to leave them out`,
  )
}
