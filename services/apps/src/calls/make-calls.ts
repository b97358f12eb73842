import { ApiError } from '@backoffice/contracts/errors.ts'
import { startLinkedSpan } from '@backoffice/runtime/linked-span.ts'
import { counter } from '@backoffice/runtime/metrics.ts'
import { delayAfter } from '@backoffice/runtime/retry-schedule.ts'
import { noteErrorType, SpanKind, within } from '@backoffice/runtime/spans.ts'
import { Tasks } from '@backoffice/runtime/tasks.ts'
import { worker } from '@backoffice/runtime/worker.ts'
import { lockInstallation } from '../apps/installation-rows.ts'
import { AppFailure, type Calling } from './calling.ts'
import {
  type ClaimedCall,
  claimCalls,
  endsAccess,
  LostClaim,
  postponeAccess,
  releaseCall,
  renewClaims,
} from './claim-calls.ts'
import { endAccessOfUninstalled, giveUpProvision, uninstallFromApp } from './end-installation.ts'
import { provision } from './provision.ts'

const attempts = counter(
  'app_calls',
  'Attempts of calls by what was to be done, and whether it was made, or whose part of it failed',
)

/**
 * Concurrent calls of a replica. Repeated ones leave slots to the others: apps that hang delay no new installation. And
 * those that end accesses, which fail while the platform is away, leave slots to those that call apps, and vice versa.
 */
const SLOTS = { calls: 32, retries: 16, retriesOfKind: 12 }
/** The pause between looks for due calls, in milliseconds: the shortest delay of the schedule within these bounds. */
const PAUSE = { least: 50, most: 1000 }

/** The longest wait before access is ended again, without its jitter: that calls the platform, and no app. */
const END_ACCESS_AFTER_MS = 50_000

/** Makes the calls to apps that are due, and repeats those that fail. Call `wake` when one was added. */
export function makeCalls(calling: Calling) {
  const underWay = new Tasks<ClaimedCall>()
  const everyMs = Math.max(PAUSE.least, Math.min(PAUSE.most, ...calling.schedule))
  return worker({
    ...{ name: 'calls to apps', everyMs },
    logger: calling.logger,
    tasks: underWay,
    async work(stopping) {
      await renewClaims(calling.worker.sql, underWay.items)
      const free = freeSlots(underWay.items)
      const claimed = free.calls > 0 ? await claimCalls(calling, free) : []
      for (const call of claimed) underWay.begin(call, () => makeCall(calling, call, stopping))
      // Their claims are to be renewed, also in a process that handles nothing else.
      return underWay.size > 0 ? everyMs : undefined
    },
  })
}

/** The slots beside the calls under way; at first all. */
export function freeSlots(underWay: readonly ClaimedCall[] = []) {
  const retries = underWay.filter(({ attempts }) => attempts > 1)
  const accesses = retries.filter(endsAccess).length
  return {
    calls: SLOTS.calls - underWay.length,
    retries: SLOTS.retries - retries.length,
    accesses: SLOTS.retriesOfKind - accesses,
    appCalls: SLOTS.retriesOfKind - (retries.length - accesses),
  }
}

/**
 * Makes one attempt, in a trace of its own with a link to that of the request that has caused it, which may be hours
 * old. Never throws: it records a failure. When it cannot, the lease of the claim ends, and the call is made again.
 */
async function makeCall(calling: Calling, call: ClaimedCall, stopping: AbortSignal): Promise<void> {
  const startedAt = performance.now()
  const logged = {
    request_id: call.claim,
    installation_id: call.installationId,
    workspace_id: call.context.workspaceId,
    call: call.kind,
  }
  const [step, take] = stepOf(call)
  const span = startLinkedSpan('app call', [call.context.traceparent], {
    kind: SpanKind.INTERNAL,
    attributes: () => ({
      'backoffice.workspace_id': call.context.workspaceId,
      'backoffice.installation_id': call.installationId,
      'backoffice.app_call': step,
      'backoffice.attempt': call.attempts,
    }),
  })
  await within(span, async () => {
    try {
      const err = await take(calling, call, stopping)
      const outcome = err ? 'given_up' : 'made'
      attempts.add(1, { call: step, outcome })
      const duration_ms = Math.round(performance.now() - startedAt)
      calling.logger.info({ ...logged, outcome, duration_ms, ...(err && { err }) }, 'call made')
    } catch (error) {
      const outcome = stopping.aborted ? 'stopped' : outcomeOf(error)
      noteErrorType(span, outcome)
      attempts.add(1, { call: step, outcome })
      const failure = { ...logged, outcome, attempts: call.attempts, err: error }
      if (!stopping.aborted) calling.logger.warn(failure, 'call failed')
      await recordFailure(calling, call, error, stopping.aborted).catch((err: unknown) => {
        calling.logger.warn({ ...logged, err }, 'a call keeps its claim until it ends')
      })
    }
  })
  span?.end()
}

function outcomeOf(error: unknown): string {
  if (error instanceof AppFailure) return 'app_failed'
  return error instanceof LostClaim ? 'claim_lost' : 'platform_failed'
}

/** What is to be done for a call now. */
function stepOf(call: ClaimedCall) {
  if (endsAccess(call)) return ['end_access', endAccessOfUninstalled] as const
  if (call.kind === 'uninstall') return ['uninstall', uninstallFromApp] as const
  return call.isExpired ? (['give_up', giveUpProvision] as const) : (['provision', provision] as const)
}

/** Records why an attempt failed, and when the next one is due. One that a stop broke off is repeated at once. */
async function recordFailure(
  { db, schedule }: Calling,
  call: ClaimedCall,
  error: unknown,
  wasStopped: boolean,
): Promise<void> {
  // After the last delay of the schedule, always that one (OP-81, OP-84).
  const delays = Math.min(call.attempts, schedule.length) - 1
  const waits = endsAccess(call) ? schedule.map((ms) => Math.min(ms, END_ACCESS_AFTER_MS)) : schedule
  const delayMs = wasStopped ? 0 : (delayAfter(delays, waits, Math.random()) ?? 0)
  await db.inWorkspace(call.context, async (tx) => {
    await lockInstallation(tx, call.installationId)
    const giveBack = endsAccess(call) ? postponeAccess : releaseCall
    if (!(await giveBack(tx, call, delayMs)) || wasStopped) return
    await tx`
      update installation set last_error = ${messageOf(error)}
      where workspace_id = ${tx.context.workspaceId} and id = ${call.installationId} and state <> 'FAILED'`
  })
}

/** The message that operators see; the reason of an unexpected error is in the log only. */
const messageOf = (error: unknown): string =>
  error instanceof AppFailure || error instanceof ApiError ? error.message : 'the call failed; see the log of apps'
