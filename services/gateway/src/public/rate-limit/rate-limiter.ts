import { LRUCache } from 'lru-cache'
import { callAnswer, type TakeCall } from './call-answer.ts'
import { type Bucket, type RateLimit, takeToken } from './token-bucket.ts'

/** Buckets in memory. Beyond that the bucket of the least recent key is dropped; a new one is full. */
const MAX_BUCKETS = 50_000

/** Counts calls by key in this process's memory (OP-06): for a gateway that is alone. */
export function rateLimiter(standard: RateLimit): TakeCall {
  const buckets = new LRUCache<string, Bucket>({ max: MAX_BUCKETS })
  return (keyId, override, now) => {
    const limit = override ?? standard
    const { isAllowed, bucket, fullAt, retryAt } = takeToken(buckets.get(keyId), limit, now)
    buckets.set(keyId, bucket)
    return callAnswer(limit, { tokens: bucket.tokens, fullAt, waitMs: isAllowed ? undefined : retryAt - now })
  }
}
