import type { WorkspaceHooks } from '@backoffice/service/workspaces/workspace-hooks.ts'
import { SYSTEM_ACTOR } from '../apps/record-act.ts'
import { uninstall } from './uninstall-app.ts'

/** A deleted workspace's apps are uninstalled first; its rows stay until then, at most 24 hours (OP-84). */
export const uninstallAll = (wake: () => void): WorkspaceHooks => ({
  async onDeleted(tx, at) {
    const installed = await tx<{ id: string }[]>`
      select id from installation
      where workspace_id = ${tx.context.workspaceId} and state in ('PENDING', 'ACTIVE')
      order by id
      for no key update`
    for (const { id } of installed) await uninstall(tx, id, 'workspace_deleted', SYSTEM_ACTOR, at)
    wake()
  },
  async isReadyForDeletion(tx) {
    const waiting = await tx`select from call where workspace_id = ${tx.context.workspaceId} limit 1`
    return waiting.count === 0
  },
})
