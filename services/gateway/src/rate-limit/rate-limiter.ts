import { ApiError } from '@backoffice/contracts/errors.ts'
import { LRUCache } from 'lru-cache'
import { type Bucket, type RateLimit, takeToken } from './token-bucket.ts'

/** Keys whose buckets are kept; the bucket of a key not seen for the longest time is forgotten, which fills it. */
const MAX_BUCKETS = 50_000

/** Headers that tell a caller where it stands. */
type RateLimitHeaders = Record<'x-ratelimit-limit' | 'x-ratelimit-remaining' | 'x-ratelimit-reset', string>

/** A call's outcome: the headers of its answer, whatever that will be, and the refusal if it comes too soon. */
export interface RateLimited {
  readonly headers: RateLimitHeaders
  readonly refusal: ApiError | undefined
}

/**
 * Counts calls by key in this process's memory (OP-06). `X-RateLimit-Limit` is the size of the key's bucket, `Remaining`
 * the calls it holds now, `Reset` the Unix second at which it is full again if nobody calls; `Retry-After` is in whole
 * seconds, at least 1. `now` is in Unix milliseconds.
 */
export function rateLimiter(standard: RateLimit): (keyId: string, limit: RateLimit | null, now: number) => RateLimited {
  const buckets = new LRUCache<string, Bucket>({ max: MAX_BUCKETS })
  return (keyId, override, now) => {
    const limit = override ?? standard
    const { isAllowed, bucket, fullAt, retryAt } = takeToken(buckets.get(keyId), limit, now)
    buckets.set(keyId, bucket)
    return {
      headers: {
        'x-ratelimit-limit': String(limit.burst),
        'x-ratelimit-remaining': String(Math.floor(bucket.tokens)),
        'x-ratelimit-reset': String(Math.ceil(fullAt / 1000)),
      },
      refusal: isAllowed ? undefined : tooManyRequests(limit, retryAt - now),
    }
  }
}

function tooManyRequests({ perSecond, burst }: RateLimit, waitMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  const perMinute = Math.round(perSecond * 60)
  return new ApiError(
    'rate_limited',
    `This API key may send ${perMinute} requests a minute and ${burst} at once; try again in ${seconds} s`,
    { headers: { 'retry-after': String(seconds) } },
  )
}
