import { ApiError } from '@backoffice/contracts/errors.ts'
import { LRUCache } from 'lru-cache'
import { type Bucket, type RateLimit, takeToken } from '../rate-limit/token-bucket.ts'
import { clientOf } from './client-address.ts'

/** Twenty wrong tokens at once, and twenty a minute. */
const LIMIT: RateLimit = { perSecond: 20 / 60, burst: 20 }
/** Addresses in memory. Beyond that the least recent one may start again. */
const MAX_ADDRESSES = 50_000

/** Counts the wrong operator tokens of each client address in this process's memory. `now` is in Unix milliseconds. */
export function wrongTokens() {
  const buckets = new LRUCache<string, Bucket>({ max: MAX_ADDRESSES })

  /** Throws `rate_limited` when the address has sent too many. */
  function refuse(address: string, now: number): Bucket {
    const { isAllowed, bucket, retryAt } = takeToken(buckets.get(clientOf(address)), LIMIT, now)
    if (!isAllowed) throw tooManyWrongTokens(retryAt - now)
    return bucket
  }
  return {
    refuse,
    /** Counts one more. Throws `rate_limited` when the address had sent too many already. */
    count(address: string, now: number): void {
      buckets.set(clientOf(address), refuse(address, now))
    },
  }
}

function tooManyWrongTokens(waitMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  return new ApiError(
    'rate_limited',
    `This address has sent too many wrong operator tokens; check the token and try again in ${seconds} s`,
    { headers: { 'retry-after': String(seconds) } },
  )
}
