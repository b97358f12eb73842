import { ok } from '@backoffice/http/reply.ts'
import { z } from 'zod'
import { adminOperation } from '../admin-operation.ts'
import { type ChangedWorkspace, publishChange } from './publish-change.ts'
import { lockWorkspace, statusChangedAt, WorkspaceStatus } from './workspace.ts'

/**
 * POST /admin/v1/workspaces/{id}/suspend (OP-86): the workspace's keys are refused, everywhere within 5 s, and its
 * webhook deliveries wait. A sandbox is suspended with its live workspace, and can be suspended alone. Suspending again
 * changes nothing.
 */
export const suspendWorkspace = adminOperation({
  method: 'POST',
  path: '/admin/v1/workspaces/{id}/suspend',
  summary: 'Suspend a workspace',
  body: z.strictObject({ reason: z.string().trim().min(1).max(255).nullish() }).prefault({}),
  responses: { 200: WorkspaceStatus },

  handle({ params: { id }, body: { reason = null }, now, act }) {
    return act(id, [{ action: 'workspace.suspended', target: `workspaces/${id}` }], async (tx) => {
      await lockWorkspace(tx)
      const suspended = await tx<(ChangedWorkspace & { was_suspended: boolean })[]>`
        update workspace set
          suspended_at = coalesce(old.suspended_at, at),
          status_changed_at = case when old.suspended_at is null then at else old.status_changed_at end,
          suspension_reason = case when old.suspended_at is null then ${reason} else old.suspension_reason end,
          suspended_by_live = old.suspended_by_live or not old.livemode and ${id} = old.parent
        from (
          select *, ${statusChangedAt(tx, now)} as at from workspace
          where ${id} in (id, parent) and deleted_at is null for no key update
        ) as old
        where workspace.id = old.id
        returning workspace.id, workspace.livemode, at, old.suspended_at is not null as was_suspended`
      const changed = suspended.filter(({ was_suspended }) => !was_suspended)
      await publishChange(tx, 'workspace.suspended', changed)
      const { status } = await lockWorkspace(tx)
      return ok(status)
    })
  },
})
