import type { RateLimit } from './token-bucket.ts'

/** What a gateway asks of a key's bucket. */
export interface LeaseRequest {
  readonly limit: RateLimit
  /** The calls that wait. */
  readonly wanted: number
  /** Tokens for calls to come: `exclusive`, and `shared` when another gateway uses the key as well. */
  readonly prefetch: { readonly exclusive: number; readonly shared: number }
  /** The tokens that the gateway gives back; negative for tokens that it used while the server was away. */
  readonly correction: number
  /** The tokens of a bucket that the server does not have: it was full, or the server lost its memory. */
  readonly atMost: number
}

/** The server's answer to a LeaseRequest. */
export interface Lease {
  /** Calls that may go, at most as many as wanted. */
  readonly granted: number
  /** Tokens for calls to come. */
  readonly prefetched: number
  /** The tokens left on the server; below 0 after a correction. */
  readonly left: number
}

/** How long another gateway counts as a user of a key after its last request, in milliseconds. */
const BESIDE_MS = 1000

/**
 * Takes tokens of a key's bucket, by the server's clock. A full bucket is not stored: it expires when it would be full.
 * When the server's clock has gone back, the bucket counts from the new time. A request after its deadline does
 * nothing, since its gateway has decided without it.
 */
export const LEASE_TOKENS = `
local gateway, per_second, burst, wanted = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local prefetch_exclusive, prefetch_shared = tonumber(ARGV[5]), tonumber(ARGV[6])
local correction, at_most, gateways, deadline = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local clock = redis.call('TIME')
local now = clock[1] * 1000 + clock[2] / 1000
if now > deadline then return {} end

local stored = redis.call('HMGET', KEYS[1], 'tokens', 'at', 'gateway', 'beside_at')
local tokens, at = tonumber(stored[1] or at_most), tonumber(stored[2] or now)
local beside_at = tonumber(stored[4] or 0)
if stored[3] and stored[3] ~= gateway then beside_at = now end

tokens = math.min(burst, tokens + math.max(0, now - at) * per_second / 1000 + correction)
local granted = math.max(0, math.min(wanted, math.floor(tokens + 0.000001)))
tokens = tokens - granted
local prefetch = prefetch_exclusive
if math.abs(now - beside_at) < ${BESIDE_MS} then prefetch = prefetch_shared end
prefetch = math.max(0, math.min(prefetch, math.floor(tokens / (2 * gateways))))
tokens = tokens - prefetch

local full_in = math.ceil((burst - tokens) * 1000 / per_second)
redis.call('HSET', KEYS[1], 'tokens', tokens, 'at', now, 'gateway', gateway, 'beside_at', beside_at)
redis.call('PEXPIRE', KEYS[1], math.max(full_in, ${BESIDE_MS}))
return { granted, prefetch, string.format('%.6f', tokens) }
`

/** The script's answer; empty after the deadline. */
export type LeaseReply = readonly [granted: number, prefetched: number, left: string] | readonly []

/** The arguments of the script after the bucket's key. `deadline` is in Unix milliseconds of the server's clock. */
export const leaseArguments = (
  { limit, wanted, prefetch, correction, atMost }: LeaseRequest,
  gateway: { readonly id: string; readonly gateways: number },
  deadline: number,
): (string | number)[] => [
  gateway.id,
  limit.perSecond,
  limit.burst,
  wanted,
  prefetch.exclusive,
  prefetch.shared,
  correction,
  atMost,
  gateway.gateways,
  deadline,
]

/** Undefined for a request that came too late. */
export const leaseOf = ([granted, prefetched, left]: LeaseReply): Lease | undefined =>
  granted === undefined || prefetched === undefined ? undefined : { granted, prefetched, left: Number(left) }
