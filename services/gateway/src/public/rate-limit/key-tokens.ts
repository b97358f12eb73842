import type { Lease } from './lease-tokens.ts'
import { correctionOf, type OutageShare, shareOf, startShare } from './outage-share.ts'
import { type Bucket, type RateLimit, takeToken, tokensAt, untilToken } from './token-bucket.ts'

/** How long leased tokens may be used, in milliseconds. A client exceeds its limit by what grows back in this time. */
export const LEASE_MS = 100
/** For so many milliseconds after simultaneous calls tokens are leased ahead, even if other gateways use the key. */
const OVERLAP_MS = 1000

/** The most tokens to lease ahead: as many as grow back on the server during a lease. */
const maxPrefetch = ({ perSecond }: RateLimit) => Math.floor((perSecond * LEASE_MS) / 1000)

/** What a call is told: the tokens left, and the wait until the next one when it is refused. */
export interface Decision {
  readonly tokens: number
  readonly waitMs?: number | undefined
}

/** The tokens of one API key in this gateway. Times are milliseconds of the process's monotonic clock. */
export class KeyTokens {
  /** The tokens on the server after its last answer. */
  #known: Bucket | undefined
  #held = 0
  #leased = 0
  #heldUntil = 0
  /** The tokens to lease ahead: doubled while leases are used up in time. */
  #prefetch = 0
  #overlapUntil = 0
  #pendingCorrection = 0
  /** The calls counted alone, which the server does not know of. */
  #share: OutageShare | undefined

  /** Decides a call by leased tokens, or because the server has none left. Undefined when the server has to decide. */
  decide(limit: RateLimit, now: number): Decision | undefined {
    if (this.#held > 0 && now < this.#heldUntil) {
      this.#held--
      return { tokens: Math.min(limit.burst, this.#held + this.#left(limit, now)) }
    }
    const tokens = this.#left(limit, now)
    const waitMs = untilToken(tokens, limit)
    return waitMs > 0 ? { tokens, waitMs } : undefined
  }

  /** Decides a call while the server is away. */
  decideAlone(limit: RateLimit, gateways: number, now: number): Decision {
    const part = shareOf(limit, gateways)
    const usable = this.lease(now) === 'usable' ? this.#held : 0
    this.#share ??= startShare(part, this.#left(limit, now) / limit.burst, usable, now)
    this.#held = 0
    const { bucket, waitMs } = takeToken(this.#share.bucket, part, now)
    this.#share = { ...this.#share, bucket }
    return { tokens: bucket.tokens, waitMs }
  }

  /** The request to the server for `wanted` calls. It contains the tokens to give back, and removes them here. */
  request(limit: RateLimit, wanted: number, gateways: number, now: number) {
    const correction = this.#pendingCorrection + this.#takeExpired(now) + this.#takeUncounted(limit, gateways, now)
    this.#pendingCorrection = 0
    if (now >= this.#heldUntil + LEASE_MS) this.#prefetch = 0
    const exclusive = wanted === 0 ? 0 : Math.min(this.#prefetch, maxPrefetch(limit))
    const shared = now < this.#overlapUntil ? exclusive : 0
    return { prefetch: { exclusive, shared }, correction, atMost: this.#left(limit, now) }
  }

  /** Takes the server's answer: the calls that may go are decided by `decide`. */
  take({ granted, prefetched, left }: Lease, limit: RateLimit, now: number): void {
    this.#known = { tokens: left, at: now }
    if (granted === 0) return
    if (now < this.#heldUntil) this.#prefetch = Math.min(maxPrefetch(limit), Math.max(1, 2 * this.#prefetch))
    this.#held += granted + prefetched
    this.#leased = prefetched
    this.#heldUntil = now + LEASE_MS
  }

  /** Keeps a correction that the server did not get, for the next request. */
  addCorrection(tokens: number): void {
    this.#pendingCorrection += tokens
  }

  /** Notes that calls came while others waited for the server. */
  noteOverlap(now: number): void {
    this.#overlapUntil = now + OVERLAP_MS
  }

  /** Whether leased tokens are left, and whether their time is over. */
  lease(now: number): 'none' | 'usable' | 'expired' {
    if (this.#held === 0) return 'none'
    return now < this.#heldUntil ? 'usable' : 'expired'
  }

  /** Whether the server's bucket differs: tokens are leased, a correction is pending, or calls were counted alone. */
  isUnreconciled(): boolean {
    return this.#pendingCorrection !== 0 || this.#held !== 0 || this.#share !== undefined
  }

  /** Forgets the calls that were counted alone: the server knows of them. */
  endShare(): void {
    this.#share = undefined
  }

  #left(limit: RateLimit, now: number): number {
    return this.#known === undefined ? limit.burst : tokensAt(this.#known, limit, now)
  }

  /** Removes the leased tokens that were not used in time. The next lease is as large as the part that was used. */
  #takeExpired(now: number): number {
    if (this.lease(now) !== 'expired') return 0
    const unused = this.#held
    this.#prefetch = this.#leased - unused
    this.#held = 0
    return unused
  }

  /** The correction for the calls counted alone, once: the server knows of them afterwards. */
  #takeUncounted(limit: RateLimit, gateways: number, now: number): number {
    if (this.#share === undefined) return 0
    const { bucket } = this.#share
    const correction = correctionOf(this.#share, shareOf(limit, gateways), now)
    this.#share = { bucket, baseline: bucket }
    return correction
  }
}
