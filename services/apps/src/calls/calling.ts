import { currentTime } from '@backoffice/runtime/clock.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { passedSince, present } from '@backoffice/runtime/passed-time.ts'
import type { SecretKeys } from '@backoffice/secrets/secret-box.ts'
import { type Databases, findInstallation, type InstallationRow } from '../apps/installation-rows.ts'
import type { AppTokens } from '../tokens/app-tokens.ts'
import { type AppConnection, callApp } from './call-app.ts'
import { type ClaimedCall, LEASE_MS, LostClaim, refuseLostClaim } from './claim-calls.ts'
import type { PlatformClient } from './platform-client.ts'

/** What the calls to apps are made with. */
export interface Calling extends Databases {
  readonly platform: PlatformClient
  readonly tokens: AppTokens
  readonly app: AppConnection
  readonly secretKeys: SecretKeys
  /** Delay after each failed call, in milliseconds. */
  readonly schedule: readonly number[]
  readonly logger: Logger
}

/** The installation of a call as it is now. */
export const installationOf = ({ db }: Calling, { context, installationId }: ClaimedCall): Promise<InstallationRow> =>
  db.inWorkspace(context, (tx) => findInstallation(tx, installationId))

/** Why an app did not acknowledge a call; the message is shown to operators. */
export class AppFailure extends Error {}

interface ProvisionRequest {
  readonly path: '/install/provision' | '/install/uninstall'
  /** Of the token; the installation's unless given. */
  readonly scopes?: string[]
  readonly body: unknown
  readonly signal: AbortSignal
}

/**
 * Makes a call to an app, with a provision token. Throws an AppFailure unless the app acknowledges with a 2xx, and a
 * LostClaim.
 */
export async function acknowledged(
  { db, app, tokens }: Calling,
  call: ClaimedCall,
  installation: InstallationRow,
  { scopes, ...request }: ProvisionRequest,
): Promise<void> {
  const { token } = await tokens.provision(installation, currentTime(), scopes)
  const claimedAt = present()
  await db.inWorkspace(call.context, (tx) => refuseLostClaim(tx, call))
  let isLate = false
  const repeated = { attempt: call.attempts, lastFailure: installation.last_error }
  const { failure } = await callApp(app, installation, {
    call: call.kind,
    requestId: call.claim,
    idempotencyKey: call.keyId ?? call.installationId,
    ...(call.attempts > 1 && { repeated }),
    token,
    ...request,
    mayBegin() {
      isLate = passedSince(claimedAt) >= LEASE_MS
      return !isLate
    },
  })
  if (isLate) throw new LostClaim('the claim was over before there was a connection')
  if (failure !== null) throw new AppFailure(`${request.path}: ${failure.message}`)
}
