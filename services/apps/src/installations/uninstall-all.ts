import type { Transaction } from '@backoffice/postgres/database.ts'
import type { WorkspaceHooks } from '@backoffice/service/workspaces/workspace-hooks.ts'
import { recordAct, SYSTEM_ACTOR } from '../apps/record-act.ts'
import { uninstall } from './uninstall-app.ts'

/** A deleted workspace's apps are uninstalled first; its rows stay until then, at most 24 hours (OP-84). */
export const uninstallAll = (wake: () => void): WorkspaceHooks => ({
  async onDeleted(tx, at) {
    const installed = await tx<{ id: string }[]>`
      select id from installation
      where workspace_id = ${tx.context.workspaceId} and state in ('PENDING', 'ACTIVE')
      order by id
      for no key update`
    for (const { id } of installed) await uninstallOne(tx, id, at)
    wake()
  },
  async isReadyForDeletion(tx) {
    const waiting = await tx`select from call where workspace_id = ${tx.context.workspaceId} limit 1`
    return waiting.count === 0
  },
})

async function uninstallOne(tx: Transaction, id: string, at: Date): Promise<void> {
  await uninstall(tx, id, 'workspace_deleted', at)
  await recordAct(tx, SYSTEM_ACTOR, 'installation.uninstalled', `installations/${id}`, at)
}
