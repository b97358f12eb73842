import type { Transaction } from '@backoffice/postgres/database.ts'

/** Why an app is uninstalled, as the app is told (OP-84). */
export type UninstallReason = 'operator' | 'workspace_deleted'

/**
 * Adds the call that uninstalls an app, in the transaction that ends its installation (OP-84). It replaces a provision
 * under way, and then revokes what that provision has made, too. An attempt under way keeps its claim, so that the two
 * never overlap.
 */
export async function addUninstall(tx: Transaction, installationId: string, reason: UninstallReason): Promise<void> {
  const { workspaceId, traceparent } = tx.context
  await tx`
    insert into call (workspace_id, installation_id, app_id, kind, former_key_id, former_endpoint_id, reason, traceparent)
    select workspace_id, id, app_id, 'uninstall', key_id, endpoint_id, ${reason}, ${traceparent}
    from installation where workspace_id = ${workspaceId} and id = ${installationId}
    on conflict (workspace_id, installation_id) do update set
      kind = 'uninstall', reason = excluded.reason, traceparent = excluded.traceparent, attempts = 0,
      due_at = clock_timestamp(), expires_at = clock_timestamp() + interval '24 hours'`
}
