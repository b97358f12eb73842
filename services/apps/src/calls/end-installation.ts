import { ApiError } from '@backoffice/contracts/errors.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import { lockInstallation } from '../apps/installation-rows.ts'
import { recordAct, SYSTEM_ACTOR } from '../apps/record-act.ts'
import type { UninstallReason } from './add-calls.ts'
import { acknowledged, type Calling, installationOf } from './calling.ts'
import { type ClaimedCall, endCall } from './claim-calls.ts'
import { keyOf } from './sealed-secrets.ts'

/**
 * Ends the access of an uninstalled app (OP-84) without waiting for a slot of the app, nor for an attempt to provision
 * it that is under way: the late steps of that one are refused. Then the call is due, to tell the app once that attempt
 * is over, and its 24 hours begin. Deletes the secrets of the provision. Throws when a step fails.
 */
export async function endAccessOfUninstalled(calling: Calling, call: ClaimedCall): Promise<void> {
  const keys = [call.keyId, call.formerKeyId]
  await endAccess(calling, call, keys, [call.endpointId, call.formerEndpointId])
  await endEndpoints(calling, call, keys)
  await calling.db.inWorkspace(
    call.context,
    (tx) => tx`
      update call set ${accessEnded(tx)}
      where workspace_id = ${tx.context.workspaceId} and installation_id = ${call.installationId}
        and kind = 'uninstall' and access_ended_at is null`,
  )
}

/** The app is told next, and its 24 hours begin. The secrets of a provision are deleted. */
const accessEnded = (tx: Transaction) => tx`
  access_ended_at = clock_timestamp(), due_at = clock_timestamp(), attempts = 0,
  expires_at = clock_timestamp() + interval '24 hours',
  key_id = null, key_secret = null, endpoint_id = null, webhook_secret = null, sealed_with = null`

/** Tells an app whose access has ended that it is uninstalled (OP-84). Throws when it does not acknowledge. */
export async function uninstallFromApp(calling: Calling, call: ClaimedCall, stopping: AbortSignal): Promise<void> {
  const { db } = calling
  if (!call.isExpired) {
    const installation = await installationOf(calling, call)
    const body = {
      workspace: installation.workspace_id,
      provider: installation.app_manifest.provider,
      reason: call.reason,
      uninstalled_at: installation.uninstalled_at?.toISOString() ?? null,
    }
    await acknowledged(calling, call, installation, { path: '/install/uninstall', body, signal: stopping })
  }
  await db.inWorkspace(call.context, async (tx) => {
    await lockInstallation(tx, call.installationId)
    if (!(await endCall(tx, call))) return
    const now = currentTime()
    await startNextCall(tx, call)
    if (!call.isExpired) {
      await tx`
        update installation set last_error = null
        where workspace_id = ${tx.context.workspaceId} and id = ${call.installationId} and state <> 'FAILED'`
    }
    const action = call.isExpired ? 'installation.purge_failed' : 'installation.purged'
    await recordAct(tx, SYSTEM_ACTOR, action, `installations/${call.installationId}`, now)
  })
}

/** The app is installed again: the provision has waited for this call until now, and its 24 hours begin. */
const startNextCall = (tx: Transaction, { appId }: ClaimedCall) => tx`
  update call set due_at = clock_timestamp(), expires_at = clock_timestamp() + interval '24 hours'
  where workspace_id = ${tx.context.workspaceId} and app_id = ${appId}`

/**
 * Gives up a provision that the app did not acknowledge within 24 hours (OP-81): ends what it would have delivered. A
 * new installation is FAILED, and its app, which may hold what was delivered, is told as of an uninstallation; an
 * installed app keeps what it has. Throws when a step fails.
 */
export async function giveUpProvision(calling: Calling, call: ClaimedCall): Promise<void> {
  await endAccess(calling, call, [call.keyId], [call.endpointId])
  // A key that was activated before an attempt died may have made endpoints.
  if (call.formerKeyId === null) await endEndpoints(calling, call, [call.keyId])
  await calling.db.inWorkspace(call.context, async (tx) => {
    const { state } = await lockInstallation(tx, call.installationId)
    if (!(await (state === 'PENDING' ? tellOfFailure : endCall)(tx, call))) return
    const now = currentTime()
    await tx`
      update installation set state = 'FAILED', uninstalled_at = ${now}, requested_manifest = null
      where workspace_id = ${tx.context.workspaceId} and id = ${call.installationId} and state = 'PENDING'`
    await recordAct(tx, SYSTEM_ACTOR, 'installation.failed', `installations/${call.installationId}`, now)
  })
}

/** Makes an uninstall of a provision that is given up; false when the claim has been lost. */
async function tellOfFailure(tx: Transaction, { installationId, claim }: ClaimedCall): Promise<boolean> {
  const reason: UninstallReason = 'provision_failed'
  const changed = await tx`
    update call set kind = 'uninstall', reason = ${reason}, claim = null, claimed_until = null, ${accessEnded(tx)}
    where workspace_id = ${tx.context.workspaceId} and installation_id = ${installationId}
      and claim = ${claim} and kind = 'provision'`
  return changed.count === 1
}

/** Revokes keys and deletes endpoints. A key that may not exist is minted first: no late attempt can mint it. */
async function endAccess(
  { platform, secretKeys }: Calling,
  call: ClaimedCall,
  keys: readonly (string | null)[],
  endpoints: readonly (string | null)[],
): Promise<void> {
  const key = openedKey(secretKeys, call)
  if (key !== undefined) await platform.mintKey(call.context, key).catch(ignoreRefusal)
  for (const id of keys) if (id !== null) await platform.revokeKey(call.context, id)
  for (const id of endpoints) if (id !== null) await platform.deleteEndpoint(call.context, id)
}

/** Deletes all endpoints of the app, those too that it has made with its keys (OP-232). */
async function endEndpoints(calling: Calling, call: ClaimedCall, keys: readonly (string | null)[]): Promise<void> {
  const { id, app_manifest } = await installationOf(calling, call)
  const installed = { installation: id, provider: app_manifest.provider }
  const known = keys.filter((key) => key !== null)
  await calling.platform.endEndpoints(call.context, installed, known)
}

/** As `keyOf`; undefined too when the secret does not open: then the key is revoked without it (OP-107). */
function openedKey(...of: Parameters<typeof keyOf>): ReturnType<typeof keyOf> {
  try {
    return keyOf(...of)
  } catch {
    return undefined
  }
}

/** `conflict`: an attempt before has revoked the key. `not_found`: the workspace is deleted. */
export function ignoreRefusal(error: unknown): void {
  if (!(error instanceof ApiError && ['conflict', 'not_found'].includes(error.code))) throw error
}
