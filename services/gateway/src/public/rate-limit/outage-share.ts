import { type Bucket, type RateLimit, tokensAt } from './token-bucket.ts'

/** The calls of one key that this gateway counts alone while the server is away. Times are in milliseconds. */
export interface OutageShare {
  readonly bucket: Bucket
  /** The bucket without the calls that the server does not know of yet. */
  readonly baseline: Bucket
}

/** The part of a limit that one of `gateways` gateways counts alone, at least one call at once. */
export const shareOf = ({ perSecond, burst }: RateLimit, gateways: number): RateLimit => ({
  perSecond: perSecond / gateways,
  burst: Math.max(1, burst / gateways),
})

/** Starts with this gateway's part of what the server had left, and its leased tokens. `leftOfBurst`: 0..1. */
export function startShare(share: RateLimit, leftOfBurst: number, leased: number, now: number): OutageShare {
  const tokens = share.burst * leftOfBurst
  return {
    bucket: { tokens: Math.min(share.burst, tokens + leased), at: now },
    baseline: { tokens, at: now },
  }
}

/**
 * The correction for the server's bucket: negative for calls that it does not know of, positive for leased tokens that
 * were not used. Tokens that grew back since are not in it.
 */
export const correctionOf = ({ bucket, baseline }: OutageShare, share: RateLimit, now: number): number =>
  tokensAt(bucket, share, now) - tokensAt(baseline, share, now)
