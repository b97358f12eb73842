import { ApiError } from '@backoffice/contracts/errors.ts'
import { LRUCache } from 'lru-cache'
import { type Bucket, type RateLimit, takeToken } from '../public/rate-limit/token-bucket.ts'
import { clientOf } from './client-address.ts'

/** Addresses in memory. Beyond that the least recent one may start again. */
const MAX_ADDRESSES = 50_000

/**
 * Counts the wrong keys (OP-165) or operator tokens (OP-156) of each client address, in this process's memory. `what`
 * names them in messages. `now` is in Unix milliseconds.
 */
export function wrongAttempts(limit: RateLimit, what: string) {
  const buckets = new LRUCache<string, Bucket>({ max: MAX_ADDRESSES })

  /** One error for each number of seconds: making an error costs as much as the rest of a refusal. */
  const refusals = new Map<number, ApiError>()
  function refusalFor(seconds: number): ApiError {
    const refusal = refusals.get(seconds) ?? tooMany(what, seconds)
    refusals.set(seconds, refusal)
    return refusal
  }

  const take = (client: string, now: number) => {
    const { bucket, waitMs } = takeToken(buckets.get(client), limit, now)
    return { bucket, refusal: waitMs === undefined ? undefined : refusalFor(Math.max(1, Math.ceil(waitMs / 1000))) }
  }
  return {
    /** The refusal of an address that has sent too many: `rate_limited`. */
    refusalOf: (address: string, now: number) => take(clientOf(address), now).refusal,
    /** Counts one more. Throws `rate_limited` when the address had sent too many already. */
    count(address: string, now: number): void {
      const client = clientOf(address)
      const { bucket, refusal } = take(client, now)
      if (refusal !== undefined) throw refusal
      buckets.set(client, bucket)
    },
    /** Takes back a counted attempt that turned out to be right. */
    takeBack(address: string): void {
      const client = clientOf(address)
      const bucket = buckets.get(client)
      if (bucket !== undefined) buckets.set(client, { ...bucket, tokens: Math.min(limit.burst, bucket.tokens + 1) })
    },
  }
}

const tooMany = (what: string, seconds: number): ApiError =>
  new ApiError(
    'rate_limited',
    `This address has sent too many wrong ${what}s; check the ${what} and try again in ${seconds} s`,
    { headers: { 'retry-after': String(seconds) }, errorReason: 'too_many_wrong_keys' },
  )
