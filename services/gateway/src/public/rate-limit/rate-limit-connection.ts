import type { Redis } from 'iovalkey'
import { COUNT_GATEWAYS, type HeartbeatReply } from './count-gateways.ts'
import { LEASE_TOKENS } from './lease-tokens.ts'

/** A connection that is silent for this time is opened anew, in milliseconds. */
const SILENCE_MS = 2000
export const RECONNECT_MS = 250

interface Scripts {
  leaseTokens(key: string, request: string): Promise<string | null>
  countGateways(key: string, gateway: string): Promise<HeartbeatReply>
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
