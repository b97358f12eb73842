import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { accepted } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { noteDeletion } from '@backoffice/service/workspaces/deletion-passes.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'
import { type ChangedWorkspace, publishChange } from './publish-change.ts'
import { lockRow, unknownWorkspace } from './workspace.ts'

/**
 * DELETE /admin/v1/workspaces/{id} (OP-86, decision 025): deletes a workspace, with its sandbox, in every service. Its
 * keys are refused from now on, everywhere within 5 s. Nothing brings it back. Deleting again changes nothing.
 */
export const deleteWorkspace = adminOperation({
  method: 'DELETE',
  path: '/admin/v1/workspaces/{id}',
  summary: 'Delete a workspace with all that it has',
  responses: { 202: z.strictObject({ workspace: Id, requested_at: Timestamp }) },

  handle({ params: { id }, now, act }) {
    return act(id, [{ action: 'workspace.deleted', target: `workspaces/${id}` }], async (tx) => {
      await lockRow(tx)
      const deleted = await markDeleted(tx, now)
      await publishChange(tx, 'workspace.deleted', deleted, noteDeletion)
      return accepted({ workspace: id, requested_at: await requestedAt(tx) })
    })
  },
})

/** Marks the transaction's workspace and its sandbox; returns those that were not marked before. */
const markDeleted = (tx: Transaction, now: Date) => tx<ChangedWorkspace[]>`
  with deleted as (
    update workspace set deleted_at = ${now}
    where ${tx.context.workspaceId} in (id, parent) and deleted_at is null
    returning id, parent, livemode, deleted_at as at
  ), noted as (
    insert into workspace_deletion (id, parent, requested_at) select id, parent, ${now} from deleted
  )
  select id, livemode, at from deleted`

async function requestedAt(tx: Transaction): Promise<Date> {
  const { workspaceId } = tx.context
  const [deletion] = await tx<{ requested_at: Date }[]>`
    select requested_at from workspace_deletion where id = ${workspaceId}`
  if (deletion === undefined) throw unknownWorkspace(workspaceId)
  return deletion.requested_at
}
