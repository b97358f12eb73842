import type { Logger } from '@backoffice/runtime/logger.ts'
import type { Component } from '@backoffice/runtime/process.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import type { Calling } from './calling.ts'
import { type ClaimedCall, claimCalls } from './claim-calls.ts'
import { giveUpProvision, uninstallFromApp } from './end-installation.ts'
import { provision } from './provision.ts'
import { recordFailure } from './record-failure.ts'

/** Calls that a replica makes at the same time. */
const SLOTS = 32
const EVERY_MS = 1000

/** Makes the calls to apps that are due, and repeats those that fail. Call `wake` when one was added. */
export function makeCalls(calling: Calling & { readonly logger: Logger }): Component & { wake(): void } {
  const underWay = new Set<Promise<void>>()
  const loop = worker({
    name: 'calls to apps',
    everyMs: EVERY_MS,
    logger: calling.logger,
    async work(stopping) {
      const claimed = await claimCalls(calling, SLOTS - underWay.size)
      for (const call of claimed) {
        const ending = makeCall(calling, call, stopping).finally(() => {
          underWay.delete(ending)
          // A place is free, and the next call of the same app may be due.
          loop.wake()
        })
        underWay.add(ending)
      }
    },
  })
  return {
    ...loop,
    async stop() {
      await loop.stop?.()
      await Promise.all(underWay)
    },
  }
}

/** Makes one attempt. Never throws: a failure is recorded, or else the claim ends by itself. */
async function makeCall(
  calling: Calling & { readonly logger: Logger },
  call: ClaimedCall,
  stopping: AbortSignal,
): Promise<void> {
  const startedAt = performance.now()
  const logged = { installation_id: call.installationId, workspace_id: call.context.workspaceId, call: call.kind }
  try {
    if (call.kind === 'uninstall') await uninstallFromApp(calling, call, stopping)
    else if (call.isExpired) await giveUpProvision(calling, call)
    else await provision(calling, call, stopping)
    calling.logger.info({ ...logged, duration_ms: Math.round(performance.now() - startedAt) }, 'app called')
  } catch (error) {
    if (!stopping.aborted) calling.logger.warn({ ...logged, attempts: call.attempts, err: error }, 'app not called')
    await recordFailure(calling, call, error, stopping.aborted).catch(() => undefined)
  }
}
