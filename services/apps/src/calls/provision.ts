import { webhookUrl } from '@backoffice/contracts/app-manifest.ts'
import { ApiError } from '@backoffice/contracts/errors.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { currentTime } from '@backoffice/runtime/clock.ts'
import { nameOf } from '../apps/app-row.ts'
import { findInstallation, type InstallationRow, lockInstallation } from '../apps/installation-rows.ts'
import { recordAct, SYSTEM_ACTOR } from '../apps/record-act.ts'
import { AppFailure, acknowledged, type Calling, installationOf } from './calling.ts'
import { type ClaimedCall, endCall, refuseLostClaim, releaseCall } from './claim-calls.ts'
import { giveUpProvision, ignoreRefusal } from './end-installation.ts'
import { keyOf, webhookSecretOf } from './sealed-secrets.ts'

/**
 * Provisions an app (OP-81). Gives that up when somebody has revoked the new key: no later attempt can deliver it, and
 * the former one stays, which ends once the new one works; then returns why. Throws when a step fails.
 */
export async function provision(
  calling: Calling,
  call: ClaimedCall,
  stopping: AbortSignal,
): Promise<Error | undefined> {
  try {
    await deliver(calling, call, stopping)
    return undefined
  } catch (error) {
    if (!(error instanceof KeyRefused)) throw error
    await calling.db.inWorkspace(call.context, async (tx) => {
      await lockInstallation(tx, call.installationId)
      await refuseLostClaim(tx, call)
      await noteGivenUp(tx, call, error.message)
    })
    await giveUpProvision(calling, call)
    return error
  }
}

/** The gateway refuses the key: it was revoked, or the workspace is deleted. */
class KeyRefused extends Error {}

function throwRefused(error: unknown): never {
  ignoreRefusal(error)
  // The id is that of a key with another check: replicas of the gateway may know other check keys for a while.
  if (error instanceof ApiError && error.errorReason === 'name_taken') throw error
  throw new KeyRefused('the new key was revoked before it was in force', { cause: error })
}

/**
 * Mints the key, creates the webhook endpoint, delivers both to the app, activates the key. Every step may be repeated,
 * and every attempt delivers the same key and secret, until the app has acknowledged them where it is now.
 */
async function deliver(calling: Calling, call: ClaimedCall, stopping: AbortSignal): Promise<void> {
  const { db, platform, secretKeys } = calling
  const { context, manifest } = call
  const key = keyOf(secretKeys, call)
  if (manifest === null || key === undefined) throw new Error('a provision without a key')
  const installation = await installationOf(calling, call)

  const hasKey = call.acknowledgedOrigin === installation.origin
  const apiKey = hasKey ? undefined : await platform.mintKey(context, key).catch(throwRefused)
  const webhookSecret = await createEndpoint(calling, call, installation)
  await registerKeys(calling, installation, call)
  if (apiKey !== undefined) {
    const body = { apiKey, ...(webhookSecret !== undefined && { webhookSecret }) }
    const { scopes } = manifest
    await acknowledged(calling, call, installation, { path: '/install/provision', scopes, body, signal: stopping })
  }

  // Uninstalled or suspended while the app answered: the key does not work.
  await db.inWorkspace(context, async (tx) => {
    await refuseLostClaim(tx, call)
    const { app_suspended_at } = await findInstallation(tx, call.installationId)
    if (app_suspended_at !== null) throw new AppFailure('the app was suspended while it answered')
    await noteAcknowledged(tx, call, installation.origin)
  })
  await platform.activateKey(context, key.id).catch(throwRefused)
  if (call.formerKeyId !== null) await platform.revokeKey(context, call.formerKeyId)
  if (call.formerEndpointId !== null) await platform.deleteEndpoint(context, call.formerEndpointId)
  await db.inWorkspace(context, (tx) => recordActive(tx, call, installation.origin))
}

/** Creates the endpoint that the manifest declares, and returns its signing secret. */
async function createEndpoint({ platform, secretKeys }: Calling, call: ClaimedCall, installation: InstallationRow) {
  const { context, endpointId: id, manifest } = call
  const secret = webhookSecretOf(secretKeys, call)
  if (id === null || secret === undefined || !manifest?.webhooks) return undefined
  const { path, events, standard_signature } = manifest.webhooks
  const urlAt = (origin: string) => webhookUrl(path, origin, context.workspaceId).href
  const url = urlAt(installation.origin)
  const description = `App ${nameOf(manifest)}`
  const endpoint = { id, url, events, secret, description, standard_signature }
  await platform.createEndpoint(context, endpoint).catch(throwRefusedUrl)
  // An attempt before may have made it where the app was then.
  const former = installation.former_origins.map(urlAt)
  if (former.length > 0) await platform.moveEndpoint(context, id, { url, former }).catch(throwRefusedUrl)
  return secret
}

/** The host of the app has addresses that are not public, say: the app's part has failed. */
function throwRefusedUrl(error: unknown): never {
  if (!(error instanceof ApiError && error.code === 'unprocessable')) throw error
  throw new AppFailure(`the webhook endpoint: ${error.message}`, { cause: error })
}

/** Registers the keys at webhook-delivery, so that what they make is the app's (OP-231). */
async function registerKeys({ platform }: Calling, installation: InstallationRow, call: ClaimedCall): Promise<void> {
  const { context, keyId, endpointId, formerKeyId, formerEndpointId } = call
  const of = { installation: installation.id, provider: installation.app_manifest.provider }
  if (formerKeyId !== null) await platform.registerKey(context, formerKeyId, { ...of, endpoint: formerEndpointId })
  if (keyId !== null) await platform.registerKey(context, keyId, { ...of, endpoint: endpointId })
}

/** From here on the former key and endpoint end: a later attempt may neither ask again there, nor give up. */
const noteAcknowledged = (tx: Transaction, { installationId, claim }: ClaimedCall, origin: string) => tx`
  update call set acknowledged_origin = ${origin}
  where workspace_id = ${tx.context.workspaceId} and installation_id = ${installationId} and claim = ${claim}`

/** From here on each attempt gives the call up: none ends the former key and endpoint. */
async function noteGivenUp(tx: Transaction, { installationId, claim }: ClaimedCall, why: string): Promise<void> {
  const { workspaceId } = tx.context
  await tx`
    update call set acknowledged_origin = null, expires_at = clock_timestamp()
    where workspace_id = ${workspaceId} and installation_id = ${installationId} and claim = ${claim}
      and kind = 'provision'`
  await tx`update installation set last_error = ${why} where workspace_id = ${workspaceId} and id = ${installationId}`
}

/** The app has acknowledged: the installation is ACTIVE, and the call is forgotten with its secrets. */
async function recordActive(tx: Transaction, call: ClaimedCall, calledAt: string): Promise<void> {
  const { workspaceId } = tx.context
  const { installationId: id, keyId, endpointId, manifest } = call
  const now = currentTime()
  const { origin } = await lockInstallation(tx, id)
  // The app has moved meanwhile: the call is made again where it is now.
  if (origin !== calledAt || !(await endCall(tx, call))) {
    // Or it was uninstalled: the call goes on as an uninstall and revokes what this attempt has made.
    await releaseCall(tx, call, 0)
    return
  }
  await tx`
    update installation set
      state = 'ACTIVE', manifest = ${tx.json(manifest)}, key_id = ${keyId}, endpoint_id = ${endpointId},
      activated_at = coalesce(activated_at, ${now}), last_error = null
    where workspace_id = ${workspaceId} and id = ${id}`
  await recordAct(tx, SYSTEM_ACTOR, 'installation.activated', `installations/${id}`, now)
}
