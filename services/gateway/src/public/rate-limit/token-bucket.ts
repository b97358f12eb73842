/** The rate of a key's calls: `perSecond` on average, `burst` at once (OP-06). */
export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
}

/** The calls left at the time `at`, in milliseconds of one clock. Later values are computed from it. */
export interface Bucket {
  readonly tokens: number
  readonly at: number
}

/** Tolerance for rounding errors of fractions of tokens. */
const ROUNDING = 1e-6

/** The tokens in a bucket at the time `now`. A changed limit applies at once, and a clock that goes back adds none. */
export function tokensAt({ tokens, at }: Bucket, { perSecond, burst }: RateLimit, now: number): number {
  return Math.min(burst, tokens + (Math.max(0, now - at) * perSecond) / 1000)
}

/** The milliseconds until a bucket with so many tokens has a whole one; 0 when it has. */
export const untilToken = (tokens: number, { perSecond }: RateLimit): number =>
  tokens >= 1 - ROUNDING ? 0 : ((1 - tokens) * 1000) / perSecond

/**
 * Takes one token (OP-06). `undefined` stands for a full bucket. A refused call takes nothing. Times are milliseconds
 * of one clock.
 */
export function takeToken(bucket: Bucket | undefined, limit: RateLimit, now: number) {
  const time = Math.max(now, bucket?.at ?? now)
  const grown = bucket === undefined ? limit.burst : tokensAt(bucket, limit, time)
  const isAllowed = untilToken(grown, limit) === 0
  const left = isAllowed ? Math.max(0, grown - 1) : grown
  return {
    isAllowed,
    bucket: { tokens: left, at: time } satisfies Bucket,
    /** When the bucket is full again without further calls. */
    fullAt: time + ((limit.burst - left) * 1000) / limit.perSecond,
    /** When a token can be taken; now for an allowed call. */
    retryAt: isAllowed ? now : time + untilToken(left, limit),
  }
}
