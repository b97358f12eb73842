import { setTimeout as pause } from 'node:timers/promises'
import { InternalCalls } from '@backoffice/http/internal-calls.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import { FairSlots, type SlotLimits } from '@backoffice/runtime/fair-slots.ts'
import { BrokenCircuitError, ConsecutiveBreaker, circuitBreaker, handleAll } from 'cockatiel'
import { CatalogError, catalogUnavailable, tooManyCalls } from './catalog-refusal.ts'

/** Limits of the calls to catalog; times in milliseconds. */
export interface CallLimits {
  /** For the whole call: the wait for a slot, the repetition and the reading of the answer. */
  readonly deadlineMs: number
  /** After so many failures in a row catalog is not called. */
  readonly failures: number
  /** After this time one call tries catalog again. */
  readonly halfOpenAfterMs: number
  readonly slots: SlotLimits
}

/** A call waits a second at most for a slot, so that a second is left for itself. Catalog has ten connections. */
const LIMITS: CallLimits = {
  deadlineMs: 2000,
  failures: 10,
  halfOpenAfterMs: 1000,
  slots: { slots: 64, share: 16, most: 16, waiting: 256, waitMs: 1000 },
}

/** The pause before a call is repeated: from this many milliseconds to twice as many. */
const REPEAT_AFTER_MS = 50

/** What catalog has answered, whatever the status. */
interface CatalogAnswer {
  readonly statusCode: number
  readonly body: unknown
  /** Whether an earlier attempt failed. That one may take effect as well. */
  readonly isRepeated: boolean
}

/** Calls to catalog's internal operations. All of them are safe to repeat. */
export interface CatalogCalls extends Component {
  /**
   * Sends a request in the workspace of the caller, and once more after a lost connection or an answer 502, 503 or 504.
   * Throws `service_unavailable` when there is no answer in time, when catalog has failed many times in a row, and when
   * the workspace has too many calls under way.
   */
  post(context: RequestContext, path: `/internal/${string}`, body: unknown): Promise<CatalogAnswer>
}

/** Opens kept-alive connections to catalog. */
export function catalogCalls(url: string, signer: TokenSigner, limits = LIMITS): CatalogCalls {
  const { deadlineMs, failures, halfOpenAfterMs, slots: share } = limits
  const calls = new InternalCalls('catalog', url, signer, { connections: share.slots, answerMs: deadlineMs })
  const slots = new FairSlots(share, tooManyCalls)
  // A refusal is an answer and no failure: one tenant's mistakes do not keep the others from catalog.
  const breaker = circuitBreaker(handleAll, {
    halfOpenAfter: halfOpenAfterMs,
    breaker: new ConsecutiveBreaker(failures),
  })

  async function sendTwice(request: Parameters<typeof calls.request>[0], signal: AbortSignal) {
    const attempt = () =>
      breaker.execute(async () => {
        const answer = await calls.request({ ...request, signal })
        if ([502, 503, 504].includes(answer.statusCode))
          throw new Error(`catalog answered ${answer.statusCode} ${JSON.stringify(answer.body)}`)
        return answer
      })
    try {
      return { ...(await attempt()), isRepeated: false }
    } catch (error) {
      if (error instanceof BrokenCircuitError) throw catalogUnavailable(error, true)
      if (signal.aborted) throw error
      await pause(REPEAT_AFTER_MS * (1 + Math.random()), undefined, { signal })
      return { ...(await attempt()), isRepeated: true }
    }
  }

  return {
    name: calls.name,
    post: (caller, path, body) => {
      const { workspaceId, requestId, traceparent } = caller
      const signal = AbortSignal.timeout(deadlineMs)
      return slots.run(workspaceId, () =>
        sendTwice({ caller, method: 'POST', path, body, requestId, traceparent }, signal).catch((cause: unknown) => {
          throw cause instanceof CatalogError ? cause : catalogUnavailable(cause)
        }),
      )
    },
    stop: () => calls.stop(),
  }
}
