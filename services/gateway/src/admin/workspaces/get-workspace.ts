import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { ok } from '@backoffice/http/reply.ts'
import { adminOperation } from '../admin-operation.ts'
import { Workspace } from './create-workspace.ts'
import { sandboxOf, statusOf, unknownWorkspace, WorkspaceStatus } from './workspace.ts'
import { Settings, settingsOf } from './workspace-settings.ts'

/** GET /admin/v1/workspaces/{id}: a workspace, live or sandbox, with its settings in force (OP-290). */
export const getWorkspace = adminOperation({
  method: 'GET',
  path: '/admin/v1/workspaces/{id}',
  summary: 'Read a workspace with its settings',
  responses: {
    200: WorkspaceStatus.extend({
      /** The live workspace: its own id, or that of the one it is the sandbox of. */
      live_workspace: Id,
      sandbox: Workspace.shape.sandbox,
      created_at: Timestamp,
      settings: Settings,
    }),
  },

  async handle({ params: { id }, worker }) {
    const [found] = await worker`
      select workspace.id, name, domain, livemode, ${statusOf(worker)} as status, suspended_at, suspension_reason,
        parent as live_workspace, ${sandboxOf(worker)} as sandbox, created_at, ${settingsOf(worker)} as settings
      from workspace left join settings on settings.workspace_id = workspace.id
      where workspace.id = ${id} and deleted_at is null`
    if (found === undefined) throw unknownWorkspace(id)
    return ok(found)
  },
})
