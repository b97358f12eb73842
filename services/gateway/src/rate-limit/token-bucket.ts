/** How fast a key may call: `perSecond` on average, `burst` at once (OP-06). */
export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
}

/** What taking a token from a bucket came to. Times are Unix milliseconds. */
export interface Taken {
  readonly isAllowed: boolean
  /** The bucket afterwards: the time at which it will be full again. */
  readonly fullAt: number
  /** Whole tokens left. */
  readonly remaining: number
  /** When the next token can be taken, if this one could not. */
  readonly retryAt: number
}

/** Forgives what rounding of fractional milliseconds takes away: a ten-thousandth of a token. */
const ROUNDING = 1e-4

/**
 * Takes one token (OP-06). A bucket is the one number that tells all about it, the time at which it is full if nobody
 * calls: each token taken moves that on by the time a token takes to grow, and nothing has to run in between. A refused
 * call takes nothing; a limit that was lowered meanwhile counts at once.
 */
export function takeToken(fullAt: number, { perSecond, burst }: RateLimit, now: number): Taken {
  const tokenMs = 1000 / perSecond
  const before = Math.min(Math.max(fullAt, now), now + burst * tokenMs)
  const left = burst - (before + tokenMs - now) / tokenMs
  if (left > -ROUNDING) {
    return { isAllowed: true, fullAt: before + tokenMs, remaining: Math.floor(left + ROUNDING), retryAt: now }
  }
  return { isAllowed: false, fullAt: before, remaining: 0, retryAt: now - left * tokenMs }
}
