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
class Key {
  readonly id: string
  limit: RateLimit
  readonly tokens = new KeyTokens()
  readonly waiting: ((answer: CallAnswer) => void)[] = []
  /** One request to the server at a time. */
  isAsking = false
  /** Whether a timer will give its leased tokens back. */
  isReturning = false

  constructor(id: string, limit: RateLimit) {
    this.id = id
    this.limit = limit
  }
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
    const key = this.#keys.get(id) ?? new Key(id, limit)
    key.limit = limit
    this.#keys.set(id, key)
    return key
  }

  #answerOf({ limit }: Key, { tokens, waitMs }: Decision): CallAnswer {
    return callAnswer(limit, { tokens, at: this.server.unixTime() }, waitMs)
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
    if (key.tokens.lease(performance.now()) !== 'none') this.#returnAfter(LEASE_MS, key)
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

  /** Gives back what is leased and not used in time. */
  #returnAfter(ms: number, key: Key): void {
    if (key.isReturning) return
    key.isReturning = true
    const giveBack = () => {
      key.isReturning = false
      const lease = key.tokens.lease(performance.now())
      if (lease === 'usable') this.#returnAfter(LEASE_MS / 2, key)
      if (lease === 'expired' && this.server.isUp()) void this.#ask(key)
    }
    setTimeout(giveBack, ms).unref()
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
