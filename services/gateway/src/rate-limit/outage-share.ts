import { type Bucket, type RateLimit, takeToken, tokensAt } from './token-bucket.ts'

/** The calls of one key that this gateway counts alone while the server is away. Times are milliseconds of one clock. */
export interface OutageShare {
  readonly bucket: Bucket
  /** The bucket as it would be without the calls since the server was last told of them. */
  readonly untouched: Bucket
}

/** The part of a limit that one of so many gateways counts alone; a call at once in any case. */
export const shareOf = ({ perSecond, burst }: RateLimit, gateways: number): RateLimit => ({
  perSecond: perSecond / gateways,
  burst: Math.max(1, burst / gateways),
})

/** A share of what the server had left, `left` tokens of the whole burst, and the tokens that this gateway has leased. */
export function startShare(share: RateLimit, leftOfBurst: number, leased: number, now: number): OutageShare {
  const tokens = share.burst * leftOfBurst
  return {
    bucket: { tokens: Math.min(share.burst, tokens + leased), at: now },
    untouched: { tokens, at: now },
  }
}

/** Takes one token of the share, as takeToken does. */
export function takeOfShare({ bucket, untouched }: OutageShare, share: RateLimit, now: number) {
  const taken = takeToken(bucket, share, now)
  return { ...taken, share: { bucket: taken.bucket, untouched } satisfies OutageShare }
}

/**
 * The tokens that the server's bucket has too few of because of this gateway's calls; below 0 for tokens too many. What has grown back
 * since is in neither.
 */
export const correctionOf = ({ bucket, untouched }: OutageShare, share: RateLimit, now: number): number =>
  tokensAt(bucket, share, now) - tokensAt(untouched, share, now)
