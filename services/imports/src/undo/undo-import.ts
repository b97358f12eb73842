import { conflict } from '@backoffice/contracts/errors.ts'
import { ImportUndo } from '@backoffice/contracts/import.ts'
import { type AnyOperation, operation } from '@backoffice/http/operation.ts'
import { accepted } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { unknownImport } from '../imports/import-row.ts'
import { findUndo } from './get-undo.ts'

const WITHIN_HOURS = 24

/**
 * POST /v1/imports/{id}/undo (extension of OP-50): deletes what the import created and gives what it updated its former
 * values, where nobody changed it since (OP-151). A second request changes nothing, but an undo that FAILED goes on.
 * `onRequested` is called after the commit.
 */
export const undoImport = (onRequested: () => void): AnyOperation =>
  operation({
    operationId: 'undoImport',
    method: 'POST',
    path: '/v1/imports/{id}/undo',
    summary: 'Undo an import',
    scope: 'import::create',
    responses: { 202: ImportUndo },
    openPoints: ['OP-08', 'OP-151', 'OP-191'],
    extension: true,

    async handle({ params: { id }, context, inWorkspace }) {
      const reply = await inWorkspace(async (tx) => {
        await tx`
          insert into import_undo as known (workspace_id, import_id)
          select workspace_id, id from import
          where workspace_id = ${context.workspaceId} and id = ${id} and started_at is not null
            and (ended_at > now() - make_interval(hours => ${WITHIN_HOURS})
              -- Its undo waits for the batches under way (OP-191).
              or status = 'CANCELLED' and ended_at is null
              or exists (select from import_undo where workspace_id = ${context.workspaceId} and import_id = import.id)
            )
          on conflict (workspace_id, import_id) do update set status = 'RUNNING', failing_since = null, claimed_until = null
            where known.status = 'FAILED'`
        return accepted((await findUndo(tx, id)) ?? (await refuse(tx, id)))
      })
      onRequested()
      return reply
    },
  })

/** Throws the reason why an import cannot be undone. */
async function refuse(tx: Transaction, id: string): Promise<never> {
  const [found] = await tx<{ status: string; isStarted: boolean; isEnded: boolean }[]>`
    select status, started_at is not null as "isStarted", ended_at is not null as "isEnded" from import
    where workspace_id = ${tx.context.workspaceId} and id = ${id}`
  if (found === undefined) return unknownImport(id)
  const { status, isStarted, isEnded } = found
  if (!isStarted) throw conflict(['status'], `is ${status}; the import was not started, so there is nothing to undo`)
  if (!isEnded) throw conflict(['status'], `is ${status}; undo the import when it has ended, or cancel it first`)
  throw conflict(['id'], `the import ended more than ${WITHIN_HOURS} hours ago`)
}
