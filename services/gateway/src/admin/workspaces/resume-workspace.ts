import { conflict } from '@backoffice/contracts/errors.ts'
import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'
import { type ChangedWorkspace, publishChange } from './publish-change.ts'
import { lockWorkspace, statusChangedAt, WorkspaceStatus } from './workspace.ts'

/**
 * POST /admin/v1/workspaces/{id}/resume (OP-86): ends the suspension of a workspace and of its sandbox; deliveries that
 * waited are sent. Resuming again changes nothing. Throws `conflict` for the sandbox of a suspended workspace.
 */
export const resumeWorkspace = adminOperation({
  method: 'POST',
  path: '/admin/v1/workspaces/{id}/resume',
  summary: 'End the suspension of a workspace',
  body: z.strictObject({}).prefault({}),
  responses: { 200: WorkspaceStatus },

  handle({ params: { id }, now, act }) {
    return act(id, [{ action: 'workspace.resumed', target: `workspaces/${id}` }], async (tx) => {
      const { suspended_by_live } = await lockWorkspace(tx)
      if (suspended_by_live) throw conflict([], 'The live workspace of this sandbox is suspended; resume that one')
      const resumed = await tx<ChangedWorkspace[]>`
        update workspace set suspended_at = null, suspension_reason = null, suspended_by_live = false,
          status_changed_at = ${statusChangedAt(tx, now)}
        where ${id} in (id, parent) and suspended_at is not null and deleted_at is null
        returning id, livemode, status_changed_at as at`
      await publishChange(tx, 'workspace.resumed', resumed)
      const { status } = await lockWorkspace(tx)
      return ok(status)
    })
  },
})
