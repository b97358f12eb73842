import { LRUCache } from 'lru-cache'
import { type CallAnswer, callAnswer, type TakeCall } from './call-answer.ts'
import { type Decision, KeyTokens, LEASE_MS } from './key-tokens.ts'
import type { Lease } from './lease-tokens.ts'
import { RateLimitServer, type RateLimitServerOptions } from './rate-limit-server.ts'
import { type RateLimit, untilToken } from './token-bucket.ts'

/** Keys in memory. Beyond that the least recent one is dropped, and its tokens with it. */
const MAX_KEYS = 50_000
/** How many keys are reconciled concurrently after an outage. */
const RECONCILE_CONCURRENCY = 100

interface SharedRateLimiterOptions extends Omit<RateLimitServerOptions, 'reconcile'> {
  /** The limit of workspaces without one of their own. */
  readonly standard: RateLimit
}

/** An API key, and its calls that wait for the server. */
interface Key {
  readonly id: string
  readonly tokens: KeyTokens
  limit: RateLimit
  readonly waiting: ((answer: CallAnswer) => void)[]
  /** One request to the server at a time. */
  isAsking: boolean
}

/**
 * Counts calls by key together with all gateways that use this server (decision 029). A gateway leases tokens for the
 * calls that wait, and ahead for busy keys, so that most calls wait for nothing. While the server is away each gateway
 * counts its part of the limit alone. The process's clock measures durations only.
 */
export class SharedRateLimiter {
  readonly server: RateLimitServer
  readonly #standard: RateLimit
  readonly #keys = new LRUCache<string, Key>({ max: MAX_KEYS })
  /** Keys with leased tokens. */
  readonly #leasing = new Set<Key>()
  #isReturning = false

  constructor({ standard, ...options }: SharedRateLimiterOptions) {
    this.#standard = standard
    this.server = new RateLimitServer({ ...options, reconcile: () => this.#reconcile() })
  }

  readonly takeCall: TakeCall = (keyId, override) => {
    const key = this.#keyOf(keyId, override ?? this.#standard)
    const decision = this.#decide(key)
    if (decision !== undefined) return this.#answerOf(key, decision)
    const { waiting, limit } = key
    // The calls that wait already would empty a full bucket.
    if (waiting.length >= limit.burst) return this.#answerOf(key, { tokens: 0, waitMs: untilToken(0, limit) })
    const { promise, resolve } = Promise.withResolvers<CallAnswer>()
    waiting.push(resolve)
    void this.#ask(key)
    return promise
  }

  #keyOf(id: string, limit: RateLimit): Key {
    const key = this.#keys.get(id) ?? { id, tokens: new KeyTokens(), limit, waiting: [], isAsking: false }
    key.limit = limit
    this.#keys.set(id, key)
    return key
  }

  #answerOf({ limit }: Key, { tokens, waitMs }: Decision): CallAnswer {
    const fullAt = this.server.unixTime() + ((limit.burst - tokens) * 1000) / limit.perSecond
    return callAnswer(limit, { tokens, fullAt, waitMs })
  }

  /** Decides a call at once where that is possible. */
  #decide({ tokens, limit }: Key): Decision | undefined {
    const now = performance.now()
    return this.server.isUp() ? tokens.decide(limit, now) : tokens.decideAlone(limit, this.server.gateways(), now)
  }

  /** Answers the calls that can be decided now, in the order in which they came. */
  #answerWaiting(key: Key): void {
    while (key.waiting.length > 0) {
      const decision = this.#decide(key)
      if (decision === undefined) return
      key.waiting.shift()?.(this.#answerOf(key, decision))
    }
  }

  /** Asks the server for the calls that wait, and for those that come meanwhile. Resolves with whether it answered. */
  async #ask(key: Key): Promise<boolean> {
    if (key.isAsking) return true
    key.isAsking = true
    let hasAnswered: boolean
    do {
      hasAnswered = await this.#askOnce(key)
      this.#answerWaiting(key)
    } while (key.waiting.length > 0)
    key.isAsking = false
    if (key.tokens.lease(performance.now()) !== 'none') this.#returnInTime(key)
    return hasAnswered
  }

  async #askOnce({ id, tokens, limit, waiting }: Key): Promise<boolean> {
    const wanted = waiting.length
    const request = tokens.request(limit, wanted, this.server.gateways(), performance.now())
    // A late request takes tokens that no call uses, and its correction is pending again by then: both are undone.
    const undo = (late: Lease) => tokens.addCorrection(late.granted + late.prefetched - request.correction)
    const lease = await this.server.lease(id, { limit, wanted, ...request }, undo)
    const now = performance.now()
    if (wanted > 1 || waiting.length > wanted) tokens.noteOverlap(now)
    if (lease === undefined) {
      tokens.addCorrection(request.correction)
      return false
    }
    tokens.take(lease, limit, now)
    if (this.server.isUp()) tokens.endShare()
    return true
  }

  #returnInTime(key: Key): void {
    this.#leasing.add(key)
    if (!this.#isReturning) this.#returnAfter(LEASE_MS)
  }

  #returnAfter(ms: number): void {
    this.#isReturning = true
    setTimeout(() => this.#returnExpired(), ms).unref()
  }

  /** Gives back what was leased and not used in time. */
  #returnExpired(): void {
    const now = performance.now()
    for (const key of this.#leasing) {
      const lease = key.tokens.lease(now)
      if (lease !== 'usable') this.#leasing.delete(key)
      if (lease === 'expired' && this.server.isUp()) void this.#ask(key)
    }
    this.#isReturning = false
    if (this.#leasing.size > 0) this.#returnAfter(LEASE_MS / 2)
  }

  /** Tells the server of the calls that were counted alone. */
  async #reconcile(): Promise<boolean> {
    const unreconciled = [...this.#keys.values()].filter(({ tokens }) => tokens.isUnreconciled())
    for (let next = 0; next < unreconciled.length; next += RECONCILE_CONCURRENCY) {
      const asked = unreconciled.slice(next, next + RECONCILE_CONCURRENCY).map((key) => this.#ask(key))
      if ((await Promise.all(asked)).includes(false)) return false
    }
    return true
  }
}
