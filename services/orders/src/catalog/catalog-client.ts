import { setTimeout as pause } from 'node:timers/promises'
import type { StockReturned } from '@backoffice/contracts/order-records.ts'
import { OrderableVariant } from '@backoffice/contracts/orderable-variant.ts'
import { InternalCalls } from '@backoffice/http/internal-calls.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import { FairSlots } from '@backoffice/runtime/fair-slots.ts'
import { BrokenCircuitError, type CircuitBreakerPolicy, ConsecutiveBreaker, circuitBreaker, handleAll } from 'cockatiel'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { CatalogError, catalogUnavailable, refusalOf, tooManyCalls } from './catalog-refusal.ts'

/** A quantity of a variant, to be taken from stock. */
export interface StockLine {
  readonly variant: string
  readonly quantity: number
}

/** A part of what a reservation has taken, which the wire calls `order`. */
export type StockReturn = z.output<typeof StockReturned>

interface WantedVariants {
  readonly ids: readonly string[]
  readonly skus: readonly string[]
}

const Variants = z.object({ variants: z.array(OrderableVariant) })
/** What the answers to a take, a release and a return begin with; orders needs no more of it. */
const Reserved = z.object({ order: z.string(), variants: z.array(OrderableVariant).optional() })

/** About the bytes of a variant that catalog answers. */
export const VARIANT_BYTES = 1024

/** Limits of the calls to catalog, which has ten connections to PostgreSQL; times in milliseconds. */
export const CALL_LIMITS = {
  /** For the whole call: the wait for a slot, the repetition and the reading of the answer. */
  deadlineMs: 3000,
  /** After so many failures in a row catalog is not called for their workspace. */
  failures: 10,
  /** After this time one call of the workspace tries catalog again. */
  halfOpenAfterMs: 1000,
  /** A call waits a second at most for a slot, so that it has at least two seconds itself. */
  slots: { slots: 64, share: 16, most: 16, waiting: 256, waitMs: 1000 },
}
export type CallLimits = typeof CALL_LIMITS

/** Workspaces whose failures are counted. */
const MAX_BREAKERS = 1000

/** The pause before a call is repeated: from this many milliseconds to twice as many. */
const REPEAT_AFTER_MS = 50

/** The catalog, as orders calls it. */
export type Catalog = Pick<CatalogClient, 'readVariants' | 'takeStock' | 'releaseStock' | 'returnStock'>

/**
 * Calls catalog's internal operations in the workspace of a request, all of which are safe to repeat: once more after a
 * lost connection or an answer 502, 503 or 504. Throws `service_unavailable` when there is no answer in time (then a
 * take may have happened or not), when catalog has failed the workspace many times in a row, and when the workspace, or
 * all together, have too many calls under way.
 */
export class CatalogClient implements Component {
  readonly name: string
  readonly #deadlineMs: number
  readonly #calls: InternalCalls
  readonly #slots: FairSlots
  readonly #breakers: LRUCache<string, CircuitBreakerPolicy>

  constructor(url: string, signer: TokenSigner, { deadlineMs, failures, halfOpenAfterMs, slots } = CALL_LIMITS) {
    this.#deadlineMs = deadlineMs
    this.#calls = new InternalCalls('catalog', url, signer, { connections: slots.slots, answerMs: deadlineMs })
    this.name = this.#calls.name
    this.#slots = new FairSlots(slots, tooManyCalls)
    // One for each workspace: calls that wait for a tenant's own locks do not keep the others from catalog. A refusal
    // is an answer and no failure.
    const newBreaker = () =>
      circuitBreaker(handleAll, { halfOpenAfter: halfOpenAfterMs, breaker: new ConsecutiveBreaker(failures) })
    this.#breakers = new LRUCache({ max: MAX_BREAKERS, memoMethod: newBreaker })
  }

  /** The wanted variants that the workspace has, as catalog has them now. One call for up to 1,000 ids and SKUs. */
  async readVariants(context: RequestContext, wanted: WantedVariants): Promise<OrderableVariant[]> {
    return (await this.#call(Variants, context, '/internal/variants/read', wanted)).variants
  }

  /**
   * Takes stock under the id of a reservation, once (OP-95). Throws a CatalogError: `conflict` when there is too
   * little, `unprocessable` for a variant that is gone. Its message names a line by its index in `lines`:
   * `items[2].quantity`. With `currency`, for a new order, it takes only what has a price in it, and returns the
   * variants, unless it has taken them before.
   */
  async takeStock(
    context: RequestContext,
    reservation: string,
    lines: readonly StockLine[],
    currency?: string,
  ): Promise<OrderableVariant[] | undefined> {
    const wanted = { order: reservation, lines: lines.map(({ variant, quantity }) => ({ variant, quantity })) }
    const body = { ...wanted, ...(currency !== undefined && { currency }) }
    return (await this.#call(Reserved, context, '/internal/stock/take', body)).variants
  }

  /** Returns what a reservation has taken, once (OP-96). */
  async releaseStock(context: RequestContext, reservation: string): Promise<void> {
    await this.#call(Reserved, context, '/internal/stock/release', { order: reservation })
  }

  /** Gives back a part of what a reservation has taken, once for each `id` (OP-212). */
  async returnStock(context: RequestContext, returned: StockReturn): Promise<void> {
    await this.#call(Reserved, context, '/internal/stock/return', returned)
  }

  async stop(): Promise<void> {
    await this.#calls.stop()
  }

  async #call<Answer>(
    schema: z.ZodType<Answer>,
    caller: RequestContext,
    path: `/internal/${string}`,
    body: unknown,
  ): Promise<Answer> {
    const signal = AbortSignal.timeout(this.#deadlineMs)
    const request = { caller, method: 'POST', path, body, signal } as const
    const answer = await this.#slots.run(caller.workspaceId, () =>
      this.#sendTwice(request, signal).catch((cause: unknown) => {
        throw cause instanceof CatalogError ? cause : catalogUnavailable(cause)
      }),
    )
    if (answer.statusCode >= 300) throw refusalOf(answer, !answer.isRepeated)
    const { success, data, error } = schema.safeParse(answer.body)
    if (!success) throw catalogUnavailable(error)
    return data
  }

  /** With `isRepeated` an earlier attempt failed, which may take effect as well. */
  async #sendTwice(request: Parameters<InternalCalls['request']>[0], signal: AbortSignal) {
    const breaker = this.#breakers.memo(request.caller.workspaceId)
    const attempt = () =>
      breaker.execute(async () => {
        const answer = await this.#calls.request(request)
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
}
