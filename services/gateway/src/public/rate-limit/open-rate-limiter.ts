import type { Component } from '@backoffice/runtime/component.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { TakeCall } from './call-answer.ts'
import { rateLimiter } from './rate-limiter.ts'
import { sharedRateLimiter } from './shared-rate-limiter.ts'

/** The gateway's settings of rate limits. */
interface Settings {
  readonly RATE_LIMIT_PER_MINUTE: number
  readonly RATE_LIMIT_BURST: number
  readonly RATE_LIMIT_URL?: string | undefined
}

/** Counts calls together with the other gateways where `RATE_LIMIT_URL` is set, else in this process's memory. */
export function openRateLimiter(config: Settings, logger: Logger): { takeCall: TakeCall; components: Component[] } {
  const standard = { perSecond: config.RATE_LIMIT_PER_MINUTE / 60, burst: config.RATE_LIMIT_BURST }
  const url = config.RATE_LIMIT_URL
  if (url === undefined) return { takeCall: rateLimiter(standard), components: [] }
  const { takeCall, server } = sharedRateLimiter({ standard, url, logger })
  return { takeCall, components: [server] }
}
