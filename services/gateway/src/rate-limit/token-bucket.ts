/** How fast a key may call: `perSecond` on average, `burst` at once (OP-06). */
export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
}

/** What a key could send at a time, in Unix milliseconds; it grows from there without anything having to run. */
export interface Bucket {
  readonly tokens: number
  readonly at: number
}

/** What taking a token from a bucket came to. Times are Unix milliseconds. */
export interface Taken {
  readonly isAllowed: boolean
  readonly bucket: Bucket
  /** When the bucket is full again if nobody takes from it. */
  readonly fullAt: number
  /** When a token can be taken: now, if this one could. */
  readonly retryAt: number
}

/** Forgives what adding up fractions of tokens loses. */
const ROUNDING = 1e-6

/**
 * Takes one token (OP-06); no bucket is a full one. A refused call takes nothing, a limit changed meanwhile counts at
 * once, and a clock that goes back gives nothing away.
 */
export function takeToken(bucket: Bucket | undefined, { perSecond, burst }: RateLimit, now: number): Taken {
  const { tokens, at } = bucket ?? { tokens: burst, at: now }
  const time = Math.max(now, at)
  const grown = Math.min(burst, tokens + ((time - at) * perSecond) / 1000)
  const isAllowed = grown >= 1 - ROUNDING
  const left = isAllowed ? Math.max(0, grown - 1) : grown
  return {
    isAllowed,
    bucket: { tokens: left, at: time },
    fullAt: time + ((burst - left) * 1000) / perSecond,
    retryAt: isAllowed ? now : time + ((1 - left) * 1000) / perSecond,
  }
}
