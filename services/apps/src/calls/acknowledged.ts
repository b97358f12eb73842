import type { InstallationRow } from '../installation-rows/installation-row.ts'
import { callApp } from './call-app.ts'
import type { Calling } from './calling.ts'
import type { ClaimedCall } from './claim-calls.ts'
import { refuseLostClaim } from './claims.ts'

/** Why an app did not acknowledge a call; the message is shown to operators. */
export class AppFailure extends Error {}

/**
 * Makes a call to an app. Throws an AppFailure unless the app acknowledges with a 2xx, and an error when the claim has
 * been lost.
 */
export async function acknowledged(
  { db, app }: Calling,
  call: ClaimedCall,
  installation: InstallationRow,
  request: Omit<Parameters<typeof callApp>[2], 'call'>,
): Promise<void> {
  await db.inWorkspace(call.context, (tx) => refuseLostClaim(tx, call))
  const { failure } = await callApp(app, installation, { call: call.kind, ...request })
  if (failure !== null) throw new AppFailure(`${request.path}: ${failure.message}`)
}
