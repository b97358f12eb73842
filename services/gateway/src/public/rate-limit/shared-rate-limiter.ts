import type { Logger } from '@backoffice/runtime/logger.ts'
import { LRUCache } from 'lru-cache'
import { type CallAnswer, callAnswer, type TakeCall } from './call-answer.ts'
import { type Decision, type KeyTokens, keyTokens, LEASE_MS } from './key-tokens.ts'
import type { Lease } from './lease-tokens.ts'
import { rateLimitServer } from './rate-limit-server.ts'
import { type RateLimit, untilToken } from './token-bucket.ts'

/** Keys in memory. Beyond that the least recent one is dropped, and its tokens with it. */
const MAX_KEYS = 50_000
/** Keys that are reconciled at once after an outage. */
const RECONCILED_AT_ONCE = 100

interface SharedRateLimiterOptions {
  /** The limit of workspaces without one of their own. */
  readonly standard: RateLimit
  /** The server that the gateways share: `redis://` or `rediss://`. */
  readonly url: string
  readonly logger: Logger
  /** The longest wait of a call for the server; as in production unless a test says otherwise. */
  readonly answerWithinMs?: number
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
 * Counts calls by key together with all gateways that use this server (decision 029). A gateway leases tokens for the calls that wait, and
 * ahead for busy keys, so that most calls wait for nothing. While the server is away each gateway counts its part of the limit alone.
 * The process's clock measures durations only.
 */
export function sharedRateLimiter({ standard, url, logger, answerWithinMs }: SharedRateLimiterOptions) {
  const keys = new LRUCache<string, Key>({ max: MAX_KEYS })
  /** Keys with leased tokens. */
  const leasing = new Set<Key>()
  let isReturning = false
  const server = rateLimitServer({ url, answerWithinMs, logger, reconcile })

  function keyOf(id: string, limit: RateLimit): Key {
    let key = keys.get(id)
    if (key === undefined) {
      key = { id, tokens: keyTokens(), limit, waiting: [], isAsking: false }
      keys.set(id, key)
    }
    key.limit = limit
    return key
  }

  function answerOf({ limit }: Key, { tokens, waitMs }: Decision): CallAnswer {
    const fullAt = server.unixTime() + ((limit.burst - tokens) * 1000) / limit.perSecond
    return callAnswer(limit, { tokens, fullAt, waitMs })
  }

  /** Decides a call at once where that is possible. */
  function decide({ tokens, limit }: Key): Decision | undefined {
    const now = performance.now()
    return server.isUp() ? tokens.decide(limit, now) : tokens.decideAlone(limit, server.gateways(), now)
  }

  /** Answers the calls that can be decided now, in the order in which they came. */
  function answerWaiting(key: Key): void {
    while (key.waiting.length > 0) {
      const decision = decide(key)
      if (decision === undefined) return
      key.waiting.shift()?.(answerOf(key, decision))
    }
  }

  /** Asks the server for the calls that wait, and for those that come meanwhile. Resolves with whether it has answered. */
  async function ask(key: Key): Promise<boolean> {
    if (key.isAsking) return true
    key.isAsking = true
    let hasAnswered: boolean
    do {
      hasAnswered = await askOnce(key)
      answerWaiting(key)
    } while (key.waiting.length > 0)
    key.isAsking = false
    if (key.tokens.lease(performance.now()) !== 'none') returnInTime(key)
    return hasAnswered
  }

  async function askOnce(key: Key): Promise<boolean> {
    const { id, tokens, limit, waiting } = key
    const wanted = waiting.length
    const request = tokens.request(limit, wanted, server.gateways(), performance.now())
    // A late request takes tokens that no call uses, and applies a correction that is pending again by then: both are undone.
    const undo = (late: Lease) => tokens.addCorrection(late.granted + late.prefetched - request.correction)
    const lease = await server.lease(id, { limit, wanted, ...request }, undo)
    const now = performance.now()
    if (wanted > 1 || waiting.length > wanted) tokens.noteOverlap(now)
    if (lease === undefined) {
      tokens.addCorrection(request.correction)
      return false
    }
    tokens.take(lease, limit, now)
    if (server.isUp()) tokens.endShare()
    return true
  }

  function returnInTime(key: Key): void {
    leasing.add(key)
    if (!isReturning) setTimeout(returnExpired, LEASE_MS).unref()
    isReturning = true
  }

  /** Gives back what was leased and not used in time. */
  function returnExpired(): void {
    const now = performance.now()
    for (const key of leasing) {
      const lease = key.tokens.lease(now)
      if (lease !== 'usable') leasing.delete(key)
      if (lease === 'expired' && server.isUp()) void ask(key)
    }
    isReturning = leasing.size > 0
    if (isReturning) setTimeout(returnExpired, LEASE_MS / 2).unref()
  }

  /** Tells the server of the calls that were counted alone. */
  async function reconcile(): Promise<boolean> {
    const unreconciled = [...keys.values()].filter(({ tokens }) => tokens.isUnreconciled())
    for (let next = 0; next < unreconciled.length; next += RECONCILED_AT_ONCE) {
      const answers = await Promise.all(unreconciled.slice(next, next + RECONCILED_AT_ONCE).map(ask))
      if (answers.includes(false)) return false
    }
    return true
  }

  const takeCall: TakeCall = (keyId, override) => {
    const key = keyOf(keyId, override ?? standard)
    const decision = decide(key)
    if (decision !== undefined) return answerOf(key, decision)
    // The calls that wait already would empty a full bucket.
    if (key.waiting.length >= key.limit.burst) return answerOf(key, { tokens: 0, waitMs: untilToken(0, key.limit) })
    const { promise, resolve } = Promise.withResolvers<CallAnswer>()
    key.waiting.push(resolve)
    void ask(key)
    return promise
  }

  return { takeCall, server }
}
