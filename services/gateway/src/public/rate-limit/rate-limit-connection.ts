import type { Redis } from 'iovalkey'
import { LEASE_TOKENS } from './lease-tokens.ts'

/** A connection that is silent for this time is opened anew, in milliseconds. */
const SILENCE_MS = 2000
export const RECONNECT_MS = 250

/** After this time without a heartbeat a gateway no longer counts. */
const SEEN_WITHIN_MS = 5000

/** The sorted set of the gateways, by the time of their last heartbeat. */
export const GATEWAYS_KEY = 'rate-limit-gateways'

/** Notes a gateway's heartbeat. Returns the number of gateways and the server's clock. */
const COUNT_GATEWAYS = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + clock[2] / 1000
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${SEEN_WITHIN_MS})
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + ${SEEN_WITHIN_MS}, '+inf')
redis.call('PEXPIRE', KEYS[1], ${SEEN_WITHIN_MS})
return { redis.call('ZCARD', KEYS[1]), string.format('%.3f', now) }
`

interface Scripts {
  leaseTokens(key: string, request: string): Promise<string | null>
  countGateways(key: string, gateway: string): Promise<[gateways: number, now: string]>
}

export type RateLimitConnection = Redis & Scripts

/**
 * A connection to the Valkey or Redis server at `url`, which `connect` opens, and which is opened again whenever it
 * breaks. A command that cannot be sent now, or whose connection breaks, fails: none waits for the next connection, and
 * none is sent twice.
 */
export async function rateLimitConnection(url: string): Promise<RateLimitConnection> {
  // Loaded only where limits are shared.
  const { Redis } = await import('iovalkey')
  return new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: SILENCE_MS,
    socketTimeout: SILENCE_MS,
    retryStrategy: () => RECONNECT_MS,
    // After a failover, this server is a replica, and its name leads to another.
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
    scripts: {
      leaseTokens: { lua: LEASE_TOKENS, numberOfKeys: 1 },
      countGateways: { lua: COUNT_GATEWAYS, numberOfKeys: 1 },
    },
  }) as RateLimitConnection
}
