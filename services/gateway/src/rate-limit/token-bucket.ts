/** The rate of a key's calls: `perSecond` on average, `burst` at once (OP-06). */
export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
}

/** The calls left at the time `at`, in Unix milliseconds. Later values are computed from it. */
export interface Bucket {
  readonly tokens: number
  readonly at: number
}

/** Tolerance for rounding errors of fractions of tokens. */
const ROUNDING = 1e-6

/**
 * Takes one token (OP-06). `undefined` stands for a full bucket. A refused call takes nothing, a changed limit applies at once,
 * and a clock that goes back adds no tokens. Times are Unix milliseconds.
 */
export function takeToken(bucket: Bucket | undefined, { perSecond, burst }: RateLimit, now: number) {
  const { tokens, at } = bucket ?? { tokens: burst, at: now }
  const time = Math.max(now, at)
  const grown = Math.min(burst, tokens + ((time - at) * perSecond) / 1000)
  const isAllowed = grown >= 1 - ROUNDING
  const left = isAllowed ? Math.max(0, grown - 1) : grown
  return {
    isAllowed,
    bucket: { tokens: left, at: time } satisfies Bucket,
    /** When the bucket is full again without further calls. */
    fullAt: time + ((burst - left) * 1000) / perSecond,
    /** When a token can be taken; now for an allowed call. */
    retryAt: isAllowed ? now : time + ((1 - left) * 1000) / perSecond,
  }
}
