import type { Component } from '@backoffice/runtime/component.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { LRUCache } from 'lru-cache'
import { callAnswer, type TakeCall } from './call-answer.ts'
import { SharedRateLimiter } from './shared-rate-limiter.ts'
import { type Bucket, type RateLimit, takeToken } from './token-bucket.ts'

/** Buckets in memory. Beyond that the bucket of the least recent key is dropped; a new one is full. */
const MAX_BUCKETS = 50_000

interface Settings {
  readonly RATE_LIMIT_PER_MINUTE: number
  readonly RATE_LIMIT_BURST: number
  readonly RATE_LIMIT_URL?: string | undefined
  readonly RATE_LIMIT_GATEWAYS: number
}

/** The limit of workspaces without one of their own (OP-06). */
export const standardLimit = (config: Pick<Settings, 'RATE_LIMIT_PER_MINUTE' | 'RATE_LIMIT_BURST'>): RateLimit => ({
  perSecond: config.RATE_LIMIT_PER_MINUTE / 60,
  burst: config.RATE_LIMIT_BURST,
})

/** Counts calls together with the other gateways where `RATE_LIMIT_URL` is set, else in this process's memory. */
export function openRateLimiter(config: Settings, logger: Logger): { takeCall: TakeCall; components: Component[] } {
  const standard = standardLimit(config)
  const url = config.RATE_LIMIT_URL
  if (url === undefined) return { takeCall: rateLimiter(standard), components: [] }
  const expectedGateways = config.RATE_LIMIT_GATEWAYS
  const { takeCall, server } = new SharedRateLimiter({ standard, url, expectedGateways, logger })
  return { takeCall, components: [server] }
}

/** Counts calls by key in this process's memory (OP-06): for a gateway that is alone. */
export function rateLimiter(standard: RateLimit): TakeCall {
  const buckets = new LRUCache<string, Bucket>({ max: MAX_BUCKETS })
  return (keyId, override, now) => {
    const limit = override ?? standard
    const { bucket, waitMs } = takeToken(buckets.get(keyId), limit, now)
    buckets.set(keyId, bucket)
    return callAnswer(limit, bucket, waitMs)
  }
}
