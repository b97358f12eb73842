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

/** Calls are counted out of order by less than this time, in milliseconds: a clock that goes back by more was set. */
const CLOCK_SET_MS = 10_000
/** Tolerance for rounding errors of fractions of tokens. */
const ROUNDING = 1e-6

/** The tokens in a bucket at the time `now`. A changed limit applies at once, and a clock that goes back adds none. */
export function tokensAt({ tokens, at }: Bucket, { perSecond, burst }: RateLimit, now: number): number {
  return Math.min(burst, tokens + (Math.max(0, now - at) * perSecond) / 1000)
}

/** The milliseconds until a bucket with so many tokens has a whole one; 0 when it has. */
export const untilToken = (tokens: number, { perSecond }: RateLimit): number =>
  tokens >= 1 - ROUNDING ? 0 : ((1 - tokens) * 1000) / perSecond

/** When a bucket is full again without further calls. */
export const fullAt = ({ tokens, at }: Bucket, { perSecond, burst }: RateLimit): number =>
  at + ((burst - tokens) * 1000) / perSecond

/**
 * Takes one token (OP-06). `undefined` stands for a full bucket. A refused call takes nothing, and gets the
 * milliseconds until there is a token. Times are milliseconds of one clock; when that was set back, the bucket counts
 * from the new time.
 */
export function takeToken(bucket: Bucket | undefined, limit: RateLimit, now: number) {
  const before = bucket?.at ?? now
  const at = before - now > CLOCK_SET_MS ? now : Math.max(now, before)
  const tokens = bucket === undefined ? limit.burst : tokensAt(bucket, limit, at)
  const untilNext = untilToken(tokens, limit)
  if (untilNext > 0) return { bucket: { tokens, at }, waitMs: at - now + untilNext }
  return { bucket: { tokens: Math.max(0, tokens - 1), at }, waitMs: undefined }
}
