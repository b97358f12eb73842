import type { IncomingHttpHeaders } from 'node:http'
import type { Database } from '@backoffice/postgres/database.ts'
import type { Component } from '@backoffice/runtime/process.ts'
import { bearerToken, invalidApiKey } from '../authorization/bearer-token.ts'
import { batchedLookUps } from './batched-look-ups.ts'
import { findKeys, type KnownKey } from './find-keys.ts'
import { keyCache } from './key-cache.ts'
import { hashOf, isWellFormed } from './key-format.ts'
import type { KeyUses } from './key-uses.ts'

/** Finds the key of a request. As a component of the process it listens for changes of keys. */
export interface Authenticator extends Component {
  /**
   * The key of a request. Throws `invalid_api_key` when it is missing, malformed, unknown, not in force yet or no longer, or when its
   * workspace is suspended or deleted (OP-02).
   */
  authenticate(headers: IncomingHttpHeaders, now: Date): Promise<KnownKey>
}

/** The channel on which the database sends a workspace's id when one of its keys or settings changes. */
const CHANGES = 'gateway_workspace_changed'

/**
 * Checks API keys against the database. Keeps answers for 5 s at most, and until the database announces a change. Keys that were valid
 * before are looked up apart from others, so that they do not wait for a flood of invented ones.
 */
export function authenticator(worker: Database, uses: Pick<KeyUses, 'note'>): Authenticator {
  const lookUps = () => batchedLookUps((hashes) => findKeys(worker.sql, hashes))
  const keys = keyCache({ ofKnown: lookUps(), ofOthers: lookUps() })
  return {
    name: 'api keys',
    async start() {
      // A lost connection misses announcements, so everything is dropped when it is back.
      await worker.sql.listen(CHANGES, keys.dropWorkspace, keys.clear)
    },
    async authenticate(headers, now) {
      const found = keys.get(hashOf(presentedKey(headers)), now.getTime())
      const key = found instanceof Promise ? await found : found
      if (key === undefined) throw invalidApiKey('The API key is unknown')
      if (key.activatedAt === null) throw invalidApiKey('The API key is not activated yet')
      if (key.expiresAt !== null && key.expiresAt <= now) throw invalidApiKey('The API key has expired')
      if (key.revokedAt !== null && key.revokedAt <= now) throw invalidApiKey('The API key has been revoked')
      if (key.isDeleted) throw invalidApiKey('The workspace of the API key has been deleted')
      if (key.isSuspended) throw invalidApiKey('The workspace of the API key is suspended')
      uses.note(key.caller.keyId, now)
      return key
    },
  }
}

/**
 * The API key in a request's `Authorization: Bearer` or `X-Api-Key`. Throws `invalid_api_key` when there is none, when it is
 * malformed and when the two headers carry different keys (spec: Authentication 1; OP-05).
 */
function presentedKey(headers: IncomingHttpHeaders): string {
  const bearer = bearerToken(headers.authorization)
  const header = headers['x-api-key']
  const key = bearer ?? header
  if (key === undefined) throw invalidApiKey('Send an API key: Authorization: Bearer <API_KEY>')
  if (header !== undefined && header !== key) {
    throw invalidApiKey('Authorization and X-Api-Key carry different keys; send one of them')
  }
  if (typeof key !== 'string' || !isWellFormed(key)) throw invalidApiKey('The API key is malformed')
  return key
}
