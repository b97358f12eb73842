import { ApiError } from '@backoffice/contracts/errors.ts'
import type { Database, Sql } from '@backoffice/postgres/database.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import { counter } from '@backoffice/runtime/metrics.ts'
import { invalidApiKey } from '../bearer-token.ts'
import type { KeyUses } from '../key-uses.ts'
import type { OperatorAuthenticator } from '../operators/operator-authenticator.ts'
import { hashOf } from '../secret-text.ts'
import { wrongAttempts } from '../wrong-attempts.ts'
import { findKeys, type KnownKey } from './find-keys.ts'
import { keyCache, type LookedUpKey } from './key-cache.ts'
import type { KeyFormat } from './key-format.ts'
import { batchedLookUps, unverifiedLookUps } from './look-ups.ts'

const presentedKeys = counter(
  'api_keys_presented',
  'Keys of requests by what was in memory: hit, a known key; unknown, no key; miss, neither',
)

interface Presented {
  /** That of a key, or the token of a session. */
  readonly text: string
  /** The client's address. */
  readonly address: string
}

interface AuthenticatorOptions {
  readonly format: KeyFormat
  /** Looks up keys that the platform made. */
  readonly worker: Database
  /** Looks up keys that anybody may have made, over `LOOK_UP_CONCURRENCY` connections. */
  readonly unverified: Pick<Database, 'sql'>
  readonly uses: Pick<KeyUses, 'note'>
  readonly operators: Pick<OperatorAuthenticator, 'fingerprint'>
  /** The longest wait for a look-up, in milliseconds; as in production unless a test says otherwise. */
  readonly lookUpWithinMs?: number
}

/** The channel on which the database sends a workspace's id when one of its keys or settings changes. */
const CHANGES = 'gateway_workspace_changed'

/** Wrong keys of one address: a hundred at once, and 300 a minute. */
const WRONG_KEYS = { perSecond: 5, burst: 100 }

/**
 * Checks API keys against the database. Keeps answers for 5 s at most, and until the database announces a change. Keys
 * that the platform made, by their check or an earlier look-up, do not wait for others. They also work from an address
 * with too many wrong keys, which many clients may share.
 */
export class Authenticator implements Component {
  readonly name = 'api keys'
  readonly #cache = keyCache()
  readonly #wrong = wrongAttempts(WRONG_KEYS, 'API key')
  readonly #options: AuthenticatorOptions
  readonly #findAuthentic: ReturnType<typeof batchedLookUps>
  readonly #findUnverified: ReturnType<typeof unverifiedLookUps>

  constructor(options: AuthenticatorOptions) {
    this.#options = options
    const { worker, unverified, operators, lookUpWithinMs } = options
    const findIn = (sql: Sql) => (hashes: string[]) => findKeys(sql, operators.fingerprint, hashes)
    this.#findAuthentic = batchedLookUps(findIn(worker.sql), lookUpWithinMs)
    this.#findUnverified = unverifiedLookUps(findIn(unverified.sql), lookUpWithinMs)
  }

  async start(): Promise<void> {
    const { dropWorkspace, clear } = this.#cache
    // A lost connection misses announcements, so everything is dropped when it is back.
    await this.#options.worker.sql.listen(CHANGES, dropWorkspace, clear)
  }

  /** Looks the keys of a workspace up again: what was found of one does not hold any more. */
  forget(workspaceId: string): void {
    this.#cache.dropWorkspace(workspaceId)
  }

  /**
   * The key of a request. Throws `invalid_api_key` when it is malformed, unknown, not in force yet or no longer, or
   * when its workspace is suspended or deleted (OP-02), and `rate_limited` after too many wrong keys from an address.
   */
  async authenticate({ text, address }: Presented, now: Date): Promise<KnownKey> {
    const hash = hashOf(text)
    const kept = this.#cache.get(hash, now.getTime())
    presentedKeys.add(1, { memory: kept ? 'hit' : kept === null ? 'unknown' : 'miss' })
    const found = kept ?? (await this.#lookUp(text, hash, address, now.getTime()))
    if (found === undefined) throw invalidApiKey('The API key is unknown')
    // The process's clock measures the time since the look-up alone.
    refuseUnlessInForce(found.key, now.getTime() - found.at)
    this.#noteUse(found.key, now)
    return found.key
  }

  /**
   * The refusal of a key that is certainly wrong, from an address that has sent too many: `rate_limited`. It takes
   * neither a look-up nor a log line, so that a flood of wrong keys delays the requests of others as little as
   * possible.
   */
  refuseEarly(textOf: () => string | undefined, address: string, now: Date): ApiError | undefined {
    const refusal = this.#wrong.refusalOf(address, now.getTime())
    const text = refusal && textOf()
    if (text === undefined) return undefined
    const hash = hashOf(text)
    if (this.#cache.get(hash, now.getTime()) === null) return refusal
    return this.#cache.hasFound(hash) || this.#options.format.isAuthentic(text) ? undefined : refusal
  }

  #noteUse({ operator, consoleSession, caller }: KnownKey, now: Date): void {
    if (operator !== null) return
    for (const id of new Set([caller.keyId, consoleSession ?? caller.keyId])) this.#options.uses.note(id, now)
  }

  async #lookUp(text: string, hash: string, address: string, now: number): Promise<LookedUpKey | undefined> {
    const verification = this.#cache.hasFound(hash) ? 'authentic' : this.#options.format.verify(text)
    const isUnknown = this.#cache.get(hash, now) === null
    if (verification === 'authentic') {
      const found = isUnknown ? undefined : await this.#cache.lookUp(hash, now, this.#findAuthentic)
      if (found === undefined) this.#wrong.count(address, now)
      return found
    }
    // Counted before the look-up, so that the limit holds for simultaneous requests, too.
    this.#wrong.count(address, now)
    if (verification === 'malformed') throw invalidApiKey('The API key is malformed')
    if (isUnknown) return undefined
    try {
      const found = await this.#cache.lookUp(hash, now, () => this.#findUnverified(hash, address))
      if (found !== undefined) this.#wrong.takeBack(address)
      return found
    } catch (error) {
      // While the database is away, a key is neither right nor wrong.
      if (!(error instanceof ApiError)) this.#wrong.takeBack(address)
      throw error
    }
  }
}

/** `age` is the time since the key was looked up, in milliseconds. */
function refuseUnlessInForce(key: KnownKey, age: number): void {
  if (key.expiresInMs !== null && key.expiresInMs <= age)
    throw invalidApiKey(
      `The ${key.consoleSession === null ? 'API key has expired' : 'session has ended; log in again'}`,
      'key_not_in_force',
    )
  if (key.revokedInMs !== null && key.revokedInMs <= age)
    throw invalidApiKey('The API key has been revoked', 'key_not_in_force')
  if (key.isDeleted) throw invalidApiKey('The workspace of the API key has been deleted', 'key_not_in_force')
  // A client that hears this may wait: a key that has ended never comes into force.
  if (key.activatedAt === null) throw invalidApiKey('The API key is not activated yet', 'key_not_in_force')
  if (key.isSuspended) throw invalidApiKey('The workspace of the API key is suspended', 'suspended')
  if (key.isAppSuspended) throw invalidApiKey('The app of the API key is suspended', 'suspended')
}
