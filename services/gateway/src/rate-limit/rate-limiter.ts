import { ApiError } from '@backoffice/contracts/errors.ts'
import { LRUCache } from 'lru-cache'
import { type Bucket, type RateLimit, takeToken } from './token-bucket.ts'

/** Buckets in memory. Beyond that the bucket of the least recent key is dropped; a new one is full. */
const MAX_BUCKETS = 50_000

/**
 * Counts calls by key in this process's memory (OP-06). Returns the headers for a call's answer, and the refusal of a call that
 * exceeds the limit. `X-RateLimit-Limit` is the size of the key's bucket, `Remaining` the calls left in it, `Reset` the Unix second
 * at which it is full again without further calls. `Retry-After` is in whole seconds, at least 1. `now` is in Unix milliseconds.
 */
export function rateLimiter(standard: RateLimit) {
  const buckets = new LRUCache<string, Bucket>({ max: MAX_BUCKETS })
  return (keyId: string, override: RateLimit | null, now: number) => {
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
