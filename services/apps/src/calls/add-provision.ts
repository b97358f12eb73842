import { randomBytes } from 'node:crypto'
import type { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import { conflict } from '@backoffice/contracts/errors.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { type SecretKeys, sealSecret } from '@backoffice/secrets/secret-box.ts'
import { v7 as uuidv7 } from 'uuid'
import type { InstallationRow } from '../installations/installation-row.ts'

const SECRET_BYTES = 32

/**
 * Adds the call that provisions an app, in the transaction of the consent, with the ids and secrets that every attempt delivers (OP-81).
 * Throws `conflict` while the app has not acknowledged the provision before.
 */
export async function addProvision(
  tx: Transaction,
  { id, app_id: appId, key_id, endpoint_id }: InstallationRow,
  manifest: AppManifest,
  keys: SecretKeys,
): Promise<void> {
  const { workspaceId } = tx.context
  const owner = sealOwner(workspaceId, id)
  const key = sealSecret(keys, randomBytes(SECRET_BYTES), owner)
  const webhook = manifest.webhooks && sealSecret(keys, randomBytes(SECRET_BYTES), owner)
  const added = await tx`
    insert into call ${tx({
      workspace_id: workspaceId,
      installation_id: id,
      app_id: appId,
      kind: 'provision',
      manifest: tx.json(manifest) as never,
      key_id: uuidv7(),
      key_secret: key.sealed,
      endpoint_id: webhook ? uuidv7() : null,
      webhook_secret: webhook?.sealed ?? null,
      sealed_with: key.keyId,
      former_key_id: key_id,
      former_endpoint_id: endpoint_id,
    })}
    on conflict (workspace_id, installation_id) do nothing`
  if (added.count === 0) throw conflict([], 'the app has not acknowledged the consent before; wait, or uninstall it')
}

/** The owner that an installation's secrets are sealed for. */
export const sealOwner = (workspaceId: string, installationId: string): string => `${workspaceId} ${installationId}`
