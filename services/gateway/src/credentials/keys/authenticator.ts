import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '@backoffice/contracts/errors.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import { meter } from '@backoffice/runtime/metrics.ts'
import { bearerToken, invalidApiKey, tokenIn } from '../bearer-token.ts'
import { wrongAttempts } from '../wrong-attempts.ts'
import { batchedLookUps } from './batched-look-ups.ts'
import { findKeys, type KnownKey } from './find-keys.ts'
import { keyCache, type LookedUpKey } from './key-cache.ts'
import { hashOf, type KeyFormat } from './key-format.ts'
import type { KeyUses } from './key-uses.ts'
import { unverifiedLookUps } from './unverified-look-ups.ts'

const presentedKeys = meter('gateway').createCounter('api_keys_presented', {
  description: 'Keys of requests by what was in memory: hit, a known key; unknown, no key; miss, neither',
})

/** What a request shows of its sender. */
interface Presented {
  readonly headers: IncomingHttpHeaders
  /** The client's address. */
  readonly address: string
}

/** Finds the key of a request. As a component of the process it listens for changes of keys. */
export interface Authenticator extends Component {
  /**
   * The key of a request. Throws `invalid_api_key` when it is missing, malformed, unknown, not in force yet or no longer, or when its
   * workspace is suspended or deleted (OP-02), and `rate_limited` after too many wrong keys from an address.
   */
  authenticate(presented: Presented, now: Date): Promise<KnownKey>
  /**
   * The refusal of a key that is certainly wrong, from an address that has sent too many: `rate_limited`. It takes neither a look-up nor
   * a log line, so that a flood of wrong keys delays the requests of others as little as possible.
   */
  refuseEarly(presented: Presented, now: Date): ApiError | undefined
}

export interface AuthenticatorOptions {
  readonly format: KeyFormat
  /** Looks up keys that the platform made. */
  readonly worker: Database
  /** Looks up keys that anybody may have made, over `LOOK_UPS_AT_ONCE` connections. */
  readonly unverified: Pick<Database, 'sql'>
  readonly uses: Pick<KeyUses, 'note'>
}

/** The channel on which the database sends a workspace's id when one of its keys or settings changes. */
const CHANGES = 'gateway_workspace_changed'

/** Wrong keys of one address: a hundred at once, and 300 a minute. */
const WRONG_KEYS = { perSecond: 5, burst: 100 }

/**
 * Checks API keys against the database. Keeps answers for 5 s at most, and until the database announces a change. Keys that the
 * platform made, by their check or an earlier look-up, do not wait for others. They also work from an address with too many wrong
 * keys, which many clients may share.
 */
export function authenticator({ format, worker, unverified, uses }: AuthenticatorOptions): Authenticator {
  const cache = keyCache()
  const wrong = wrongAttempts(WRONG_KEYS, 'API key')
  const findAuthentic = batchedLookUps((hashes) => findKeys(worker.sql, hashes))
  const findUnverified = unverifiedLookUps(unverified)

  async function lookUp(text: string, hash: string, address: string, now: number): Promise<LookedUpKey | undefined> {
    const verification = cache.hasFound(hash) ? 'authentic' : format.verify(text)
    const isUnknown = cache.get(hash, now) === null
    if (verification === 'authentic') {
      const found = isUnknown ? undefined : await cache.lookUp(hash, now, findAuthentic)
      if (found === undefined) wrong.count(address, now)
      return found
    }
    // Counted before the look-up, so that the limit holds for simultaneous requests, too.
    wrong.count(address, now)
    if (verification === 'malformed') throw invalidApiKey('The API key is malformed')
    if (isUnknown) return undefined
    try {
      const found = await cache.lookUp(hash, now, () => findUnverified(hash, address))
      if (found !== undefined) wrong.takeBack(address)
      return found
    } catch (error) {
      // While the database is away, a key is neither right nor wrong.
      if (!(error instanceof ApiError)) wrong.takeBack(address)
      throw error
    }
  }

  return {
    name: 'api keys',
    async start() {
      // A lost connection misses announcements, so everything is dropped when it is back.
      await worker.sql.listen(CHANGES, cache.dropWorkspace, cache.clear)
    },
    async authenticate({ headers, address }, now) {
      const text = presentedKey(headers)
      const hash = hashOf(text)
      const kept = cache.get(hash, now.getTime())
      presentedKeys.add(1, { memory: kept ? 'hit' : kept === null ? 'unknown' : 'miss' })
      const found = kept ?? (await lookUp(text, hash, address, now.getTime()))
      if (found === undefined) throw invalidApiKey('The API key is unknown')
      const { key, at } = found
      // The process's clock measures the time since the look-up alone.
      const age = now.getTime() - at
      if (key.activatedAt === null) throw invalidApiKey('The API key is not activated yet')
      if (key.expiresInMs !== null && key.expiresInMs <= age) throw invalidApiKey('The API key has expired')
      if (key.revokedInMs !== null && key.revokedInMs <= age) throw invalidApiKey('The API key has been revoked')
      if (key.isDeleted) throw invalidApiKey('The workspace of the API key has been deleted')
      if (key.isSuspended) throw invalidApiKey('The workspace of the API key is suspended')
      uses.note(key.caller.keyId, now)
      return key
    },
    refuseEarly({ headers, address }, now) {
      const refusal = wrong.refusalOf(address, now.getTime())
      const text = refusal && (headers['x-api-key'] ?? tokenIn(headers.authorization ?? ''))
      if (typeof text !== 'string') return undefined
      const hash = hashOf(text)
      if (cache.get(hash, now.getTime()) === null) return refusal
      return cache.hasFound(hash) || format.isAuthentic(text) ? undefined : refusal
    },
  }
}

/**
 * The API key in a request's `Authorization: Bearer` or `X-Api-Key`. Throws `invalid_api_key` when there is none, and when the two
 * headers carry different keys (spec: Authentication 1; OP-05).
 */
function presentedKey(headers: IncomingHttpHeaders): string {
  const bearer = bearerToken(headers.authorization)
  const header = headers['x-api-key']
  const key = bearer ?? header
  if (key === undefined) throw invalidApiKey('Send an API key: Authorization: Bearer <API_KEY>')
  if (header !== undefined && header !== key) {
    throw invalidApiKey('Authorization and X-Api-Key carry different keys; send one of them')
  }
  return String(key)
}
