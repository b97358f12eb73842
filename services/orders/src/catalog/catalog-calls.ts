import { setTimeout as pause } from 'node:timers/promises'
import { inCallSpan } from '@backoffice/http/call-span.ts'
import { IDLE_CONNECTIONS } from '@backoffice/http/idle-connections.ts'
import { INTERNAL_TOKEN_HEADER, type RequestContext } from '@backoffice/http/internal-token.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import { fairSlots, type SlotLimits } from '@backoffice/runtime/fair-slots.ts'
import { BrokenCircuitError, ConsecutiveBreaker, circuitBreaker, handleAll } from 'cockatiel'
import { Pool } from 'undici'
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

/**
 * A call waits a second at most for a slot, so that it has at least a second itself. Catalog has ten connections to
 * PostgreSQL.
 */
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
  readonly status: number
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
  const pool = new Pool(url, {
    connections: limits.slots.slots,
    pipelining: 1,
    connect: { timeout: limits.deadlineMs },
    ...IDLE_CONNECTIONS,
    headersTimeout: limits.deadlineMs,
    bodyTimeout: limits.deadlineMs,
  })
  const slots = fairSlots(limits.slots, tooManyCalls)
  // A refusal is an answer and no failure: one tenant's mistakes do not keep the others from catalog.
  const breaker = circuitBreaker(handleAll, {
    halfOpenAfter: limits.halfOpenAfterMs,
    breaker: new ConsecutiveBreaker(limits.failures),
  })

  async function send(context: RequestContext, path: string, body: string, signal: AbortSignal) {
    const { requestId, traceparent } = context
    const token = await signer.ownCall(context, 'catalog', new Date())
    const headers = { [INTERNAL_TOKEN_HEADER]: token, 'x-request-id': requestId, 'content-type': 'application/json' }
    const answer = await inCallSpan({ service: 'catalog', method: 'POST', traceparent }, (trace) =>
      pool.request({ method: 'POST', path, headers: { ...headers, ...trace }, body, signal }),
    )
    const text = await answer.body.text()
    if ([502, 503, 504].includes(answer.statusCode)) throw new Error(`catalog answered ${answer.statusCode} ${text}`)
    return { status: answer.statusCode, body: JSON.parse(text) as unknown }
  }

  async function sendTwice(context: RequestContext, path: string, body: string, signal: AbortSignal) {
    const attempt = () => breaker.execute(() => send(context, path, body, signal))
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
    name: 'catalog',
    post: (context, path, body) => {
      const signal = AbortSignal.timeout(limits.deadlineMs)
      return slots.run(context.workspaceId, () =>
        sendTwice(context, path, JSON.stringify(body), signal).catch((cause: unknown) => {
          throw cause instanceof CatalogError ? cause : catalogUnavailable(cause)
        }),
      )
    },
    async stop() {
      await pool.close()
    },
  }
}
