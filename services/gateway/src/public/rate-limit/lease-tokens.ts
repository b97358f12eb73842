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
 * When the server's clock has gone back, the bucket counts from the new time. The argument is JSON: a LeaseRequest with
 * the id of its gateway, the number of `gateways`, and its `deadline` in Unix milliseconds of the server's clock. The
 * answer is a Lease as JSON. After the deadline the script does nothing and answers nil, since the gateway has decided
 * without it.
 */
export const LEASE_TOKENS = `
local request = cjson.decode(ARGV[1])
local limit, prefetch = request.limit, request.prefetch
local clock = redis.call('TIME')
local now = clock[1] * 1000 + clock[2] / 1000
if now > request.deadline then return nil end

local stored = redis.call('HMGET', KEYS[1], 'tokens', 'at', 'gateway', 'beside_at')
local tokens, at = tonumber(stored[1] or request.atMost), tonumber(stored[2] or now)
local beside_at = tonumber(stored[4] or 0)
if stored[3] and stored[3] ~= request.gateway then beside_at = now end

tokens = math.min(limit.burst, tokens + math.max(0, now - at) * limit.perSecond / 1000 + request.correction)
local granted = math.max(0, math.min(request.wanted, math.floor(tokens + 0.000001)))
tokens = tokens - granted
local prefetched = prefetch.exclusive
if math.abs(now - beside_at) < ${BESIDE_MS} then prefetched = prefetch.shared end
prefetched = math.max(0, math.min(prefetched, math.floor(tokens / (2 * request.gateways))))
tokens = tokens - prefetched

local full_in = math.ceil((limit.burst - tokens) * 1000 / limit.perSecond)
redis.call('HSET', KEYS[1], 'tokens', tokens, 'at', now, 'gateway', request.gateway, 'beside_at', beside_at)
redis.call('PEXPIRE', KEYS[1], math.max(full_in, ${BESIDE_MS}))
return cjson.encode({ granted = granted, prefetched = prefetched, left = tokens })
`
