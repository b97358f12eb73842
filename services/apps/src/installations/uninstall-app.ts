import { operation } from '@backoffice/http/operation.ts'
import { accepted } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { type Actor, recordAct } from '../apps/record-act.ts'
import { addUninstall, type UninstallReason } from '../calls/add-calls.ts'
import { type Databases, inWorkspaceOf, lockInstallation } from '../installation-rows/find-installation.ts'

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
