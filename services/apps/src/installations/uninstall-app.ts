import { operation } from '@backoffice/http/operation.ts'
import { accepted } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import type { WorkspaceHooks } from '@backoffice/service/workspaces/workspace-hooks.ts'
import { type Databases, inWorkspaceOf, lockInstallation } from '../apps/installation-rows.ts'
import { type Actor, recordAct, SYSTEM_ACTOR } from '../apps/record-act.ts'
import { addUninstall, type UninstallReason } from '../calls/add-calls.ts'

/**
 * DELETE /internal/installations/{id}: uninstalls (OP-84). The installation is UNINSTALLED at once; its key, its
 * webhook endpoint and then the app itself follow. A second request changes nothing.
 */
export const uninstallApp = ({ wake, ...databases }: Databases & { wake(): void }) =>
  operation({
    method: 'DELETE',
    path: '/internal/installations/{id}',
    scope: 'internal',
    responses: { 202: null },

    async handle({ params: { id }, context, now }) {
      await inWorkspaceOf(databases, context, id, async (tx) => {
        await lockInstallation(tx, id)
        await uninstall(tx, id, 'operator', context, now)
      })
      wake()
      return accepted(undefined)
    },
  })

/** Ends an installation whose row is locked, and adds the call to its app, unless it has ended before. */
export async function uninstall(
  tx: Transaction,
  id: string,
  reason: UninstallReason,
  actor: Actor,
  now: Date,
): Promise<void> {
  const { workspaceId } = tx.context
  const [ended] = await tx<{ was_provisioned: boolean }[]>`
    update installation set state = 'UNINSTALLED', uninstalled_at = ${now}, requested_manifest = null
    where workspace_id = ${workspaceId} and id = ${id} and state in ('PENDING', 'ACTIVE')
    returning manifest is not null as was_provisioned`
  if (ended === undefined) return
  if (ended.was_provisioned) await addUninstall(tx, id, reason)
  await recordAct(tx, actor, 'installation.uninstalled', `installations/${id}`, now)
}

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
