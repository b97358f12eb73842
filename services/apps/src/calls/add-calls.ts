import type { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import { conflict } from '@backoffice/contracts/errors.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import type { SecretKeys } from '@backoffice/secrets/secret-box.ts'
import type { InstallationRow } from '../apps/installation-rows.ts'
import { newSealedSecret } from './sealed-secrets.ts'

/**
 * Adds the call that provisions an app, in the transaction of the consent or of an operator's request, with the ids and
 * secrets that every attempt delivers (OP-81). It is later than the app's calls before it, whatever the clock says. It
 * waits a minute at most for the call that tells of a provision that has failed.
 * Throws `conflict` while the provision before has not ended.
 */
export async function addProvision(
  tx: Transaction,
  { id, app_id: appId, key_id: formerKeyId, endpoint_id: formerEndpointId }: InstallationRow,
  manifest: AppManifest,
  keys: SecretKeys,
): Promise<void> {
  const { workspaceId, traceparent } = tx.context
  const key = newSealedSecret(keys, workspaceId, id)
  const webhook = manifest.webhooks && newSealedSecret(keys, workspaceId, id)
  const added = await tx`
    insert into call (
      workspace_id, installation_id, app_id, kind, manifest, key_id, key_secret, endpoint_id, webhook_secret, sealed_with,
      former_key_id, former_endpoint_id, traceparent, created_at
    )
    values (
      ${workspaceId}, ${id}, ${appId}, 'provision', ${tx.json(manifest)}, ${newId()}, ${key.sealed},
      ${webhook ? newId() : null}, ${webhook?.sealed ?? null}, ${key.keyId}, ${formerKeyId}, ${formerEndpointId},
      ${traceparent}, (
        select greatest(clock_timestamp(), max(created_at) + interval '1 microsecond') from call
        where workspace_id = ${workspaceId} and app_id = ${appId}
      )
    )
    on conflict (workspace_id, installation_id) do nothing`
  if (added.count === 0) {
    const reason = 'the provision before has not ended; wait, or uninstall the app'
    throw conflict([], reason, 'not_acknowledged')
  }
  const failed: UninstallReason = 'provision_failed'
  await tx`
    update call set due_at = clock_timestamp(), expires_at = least(expires_at, clock_timestamp() + interval '1 minute')
    where workspace_id = ${workspaceId} and app_id = ${appId} and kind = 'uninstall' and reason = ${failed}`
}

/**
 * Makes a provision that waits due at once, with all of its time, in the transaction that has locked the installation;
 * false when none waits. A call that has failed still counts as a repeated one, and takes no slot of first ones. An
 * attempt under way goes on. A call that the app has acknowledged stays, since it ends with the key that the app has,
 * even a revoked one; and so does one that has expired, which is being given up.
 */
export async function hastenProvision(tx: Transaction, installationId: string): Promise<boolean> {
  const { count } = await tx`
    update call set attempts = least(attempts, 1), due_at = clock_timestamp(), expires_at = clock_timestamp() + interval '24 hours'
    where workspace_id = ${tx.context.workspaceId} and installation_id = ${installationId}
      and kind = 'provision' and acknowledged_origin is null and expires_at > clock_timestamp()`
  return count > 0
}

/** Why an app is uninstalled, as the app is told (OP-84). */
export type UninstallReason = 'operator' | 'merchant' | 'workspace_deleted' | 'app_deleted' | 'provision_failed'

/**
 * Adds the call that uninstalls an app, in the transaction that ends its installation (OP-84). It replaces a provision
 * under way, and then revokes what that provision has made, too, at once. An attempt under way keeps its claim, so that
 * the app is told only afterwards.
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
