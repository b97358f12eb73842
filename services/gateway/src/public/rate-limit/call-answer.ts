import { ApiError } from '@backoffice/contracts/errors.ts'
import { type Bucket, fullAt, type RateLimit } from './token-bucket.ts'

/** What the rate limit adds to a call's answer, and the refusal of a call that exceeds it. */
export interface CallAnswer {
  readonly headers: Readonly<Record<`x-ratelimit-${'limit' | 'remaining' | 'reset'}`, string>>
  readonly refusal: ApiError | undefined
}

/** Counts one call of a key, whose workspace may have a limit of its own. `now` is in Unix milliseconds. */
export type TakeCall = (keyId: string, override: RateLimit | null, now: number) => CallAnswer | Promise<CallAnswer>

/**
 * The answer to a call (OP-06, OP-29): `Limit` is the size of the key's bucket, `Remaining` the calls left in it,
 * `Reset` the Unix second at which it is full again without further calls. `Retry-After` is at least 1 second.
 * `waitMs` are the milliseconds until the next call; undefined for a call that is let through.
 */
export const callAnswer = (limit: RateLimit, bucket: Bucket, waitMs: number | undefined): CallAnswer => ({
  headers: {
    'x-ratelimit-limit': String(limit.burst),
    'x-ratelimit-remaining': String(Math.max(0, Math.floor(bucket.tokens))),
    'x-ratelimit-reset': String(Math.ceil(fullAt(bucket, limit) / 1000)),
  },
  refusal: waitMs === undefined ? undefined : tooManyRequests(limit, waitMs),
})

function tooManyRequests({ perSecond, burst }: RateLimit, waitMs: number): ApiError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  const perMinute = Math.round(perSecond * 60)
  return new ApiError(
    'rate_limited',
    `This API key may send ${perMinute} requests a minute and ${burst} at once; try again in ${seconds} s`,
    { headers: { 'retry-after': String(seconds) } },
  )
}
