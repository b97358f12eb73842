import { ApiError } from '@backoffice/contracts/errors.ts'
import { delayAfter } from '@backoffice/runtime/retry-schedule.ts'
import { lockInstallation } from '../installation-rows/find-installation.ts'
import { AppFailure } from './acknowledged.ts'
import type { Calling } from './calling.ts'
import type { ClaimedCall } from './claim-calls.ts'
import { releaseCall } from './claims.ts'

/**
 * Records why an attempt failed, and when the next one is due. An attempt that a stopping process broke off is repeated
 * at once.
 */
export async function recordFailure(
  { db, schedule }: Calling,
  call: ClaimedCall,
  error: unknown,
  wasStopped: boolean,
): Promise<void> {
  // After the last delay of the schedule, always that one (OP-81, OP-84).
  const delays = Math.min(call.attempts, schedule.length) - 1
  const delayMs = wasStopped ? 0 : (delayAfter(delays, schedule, Math.random()) ?? 0)
  await db.inWorkspace(call.context, async (tx) => {
    await lockInstallation(tx, call.installationId)
    if (!(await releaseCall(tx, call, delayMs)) || wasStopped) return
    await tx`
      update installation set last_error = ${messageOf(error)}
      where workspace_id = ${tx.context.workspaceId} and id = ${call.installationId}`
  })
}

/** The message that operators see; the reason of an unexpected error is in the log only. */
const messageOf = (error: unknown): string =>
  error instanceof AppFailure || error instanceof ApiError ? error.message : 'the call failed; see the log of apps'
