import type { InstallationRow } from '../installation-rows/installation-row.ts'
import { callApp } from './call-app.ts'
import { type Calling, tokenSubject } from './calling.ts'
import type { ClaimedCall } from './claim-calls.ts'
import { refuseLostClaim } from './claims.ts'

/** Why an app did not acknowledge a call; the message is shown to operators. */
export class AppFailure extends Error {}

interface ProvisionRequest {
  readonly path: '/install/provision' | '/install/uninstall'
  /** Of the token. */
  readonly scopes: readonly string[]
  readonly body: unknown
  readonly signal: AbortSignal
}

/**
 * Makes a call to an app, with a provision token. Throws an AppFailure unless the app acknowledges with a 2xx, and an
 * error when the claim has been lost.
 */
export async function acknowledged(
  { db, app, tokens }: Calling,
  call: ClaimedCall,
  installation: InstallationRow,
  { scopes, ...request }: ProvisionRequest,
): Promise<void> {
  const { token } = await tokens.provision(tokenSubject(installation, scopes), new Date())
  await db.inWorkspace(call.context, (tx) => refuseLostClaim(tx, call))
  const { failure } = await callApp(app, installation, { call: call.kind, token, ...request })
  if (failure !== null) throw new AppFailure(`${request.path}: ${failure.message}`)
}
