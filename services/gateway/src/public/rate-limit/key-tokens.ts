import type { Lease } from './lease-tokens.ts'
import { correctionOf, type OutageShare, shareOf, startShare, takeOfShare } from './outage-share.ts'
import { type Bucket, type RateLimit, tokensAt, untilToken } from './token-bucket.ts'

/** How long leased tokens may be used, in milliseconds. A client exceeds its limit at most by what grows back in this time. */
export const LEASE_MS = 100
/** After simultaneous calls tokens are leased ahead for this time, in milliseconds, even if other gateways use the key. */
const OVERLAP_MS = 1000

/** The most tokens to lease ahead: as many as grow back on the server during a lease. */
const maxPrefetch = ({ perSecond }: RateLimit) => Math.floor((perSecond * LEASE_MS) / 1000)

/** What a call is told: the tokens left, and the wait until the next one when it is refused. */
export interface Decision {
  readonly tokens: number
  readonly waitMs?: number
}

/** The tokens of one API key in this gateway. Times are milliseconds of the process's monotonic clock. */
export interface KeyTokens {
  /** Decides a call by leased tokens, or because the server has none left. Undefined when the server has to decide. */
  decide(limit: RateLimit, now: number): Decision | undefined
  /** Decides a call while the server is away. */
  decideAlone(limit: RateLimit, gateways: number, now: number): Decision
  /** The request to the server for `wanted` calls. It contains the tokens to give back, and removes them here. */
  request(limit: RateLimit, wanted: number, gateways: number, now: number): KeyRequest
  /** Takes the server's answer: the calls that may go are decided by `decide`. */
  take(lease: Lease, limit: RateLimit, now: number): void
  /** Keeps a correction that the server did not get, for the next request. */
  addCorrection(tokens: number): void
  /** Notes that calls came while others waited for the server. */
  noteOverlap(now: number): void
  /** Whether leased tokens are left, and whether their time is over. */
  lease(now: number): 'none' | 'usable' | 'expired'
  /** Whether the server's bucket differs: tokens are leased, a correction is pending, or calls were counted alone. */
  isUnreconciled(): boolean
  /** Forgets the calls that were counted alone: the server knows of them. */
  endShare(): void
}

interface KeyRequest {
  readonly prefetch: { readonly exclusive: number; readonly shared: number }
  readonly correction: number
  readonly atMost: number
}

/** The tokens of a key before the first answer of the server. */
export function keyTokens(): KeyTokens {
  /** The tokens on the server after its last answer. */
  let known: Bucket | undefined
  let held = 0
  let leased = 0
  let heldUntil = 0
  /** The tokens to lease ahead: doubled while leases are used up in time. */
  let prefetch = 0
  let overlapUntil = 0
  let pendingCorrection = 0
  let share: OutageShare | undefined

  const left = (limit: RateLimit, now: number) => (known === undefined ? limit.burst : tokensAt(known, limit, now))
  const hasExpired = (now: number) => held > 0 && now >= heldUntil

  /** Returns the leased tokens that were not used in time. The next lease is as large as the part that was used. */
  function expired(now: number): number {
    if (!hasExpired(now)) return 0
    const unused = held
    prefetch = leased - unused
    held = 0
    return unused
  }

  /** The correction for the calls counted alone, once: the server knows of them afterwards. */
  function uncounted(limit: RateLimit, gateways: number, now: number): number {
    if (share === undefined) return 0
    const correction = correctionOf(share, shareOf(limit, gateways), now)
    share = { bucket: share.bucket, baseline: share.bucket }
    return correction
  }

  return {
    lease: (now) => (held === 0 ? 'none' : hasExpired(now) ? 'expired' : 'usable'),
    decide(limit, now) {
      if (held > 0 && now < heldUntil) {
        held--
        return { tokens: held + left(limit, now) }
      }
      const tokens = left(limit, now)
      const waitMs = untilToken(tokens, limit)
      return waitMs > 0 ? { tokens, waitMs } : undefined
    },
    decideAlone(limit, gateways, now) {
      const part = shareOf(limit, gateways)
      share ??= startShare(part, left(limit, now) / limit.burst, hasExpired(now) ? 0 : held, now)
      held = 0
      const taken = takeOfShare(share, part, now)
      share = taken.share
      const { tokens } = taken.bucket
      return taken.isAllowed ? { tokens } : { tokens, waitMs: taken.retryAt - now }
    },
    request(limit, wanted, gateways, now) {
      const correction = pendingCorrection + expired(now) + uncounted(limit, gateways, now)
      pendingCorrection = 0
      if (now >= heldUntil + LEASE_MS) prefetch = 0
      const wish = wanted === 0 ? 0 : Math.min(prefetch, maxPrefetch(limit))
      return {
        prefetch: { exclusive: wish, shared: now < overlapUntil ? wish : 0 },
        correction,
        atMost: left(limit, now),
      }
    },
    take(lease, limit, now) {
      known = { tokens: lease.left, at: now }
      if (lease.granted === 0) return
      if (now < heldUntil) prefetch = Math.min(maxPrefetch(limit), Math.max(1, 2 * prefetch))
      held += lease.granted + lease.prefetched
      leased = lease.prefetched
      heldUntil = now + LEASE_MS
    },
    addCorrection(tokens) {
      pendingCorrection += tokens
    },
    noteOverlap(now) {
      overlapUntil = now + OVERLAP_MS
    },
    isUnreconciled: () => pendingCorrection !== 0 || held !== 0 || share !== undefined,
    endShare() {
      share = undefined
    },
  }
}
