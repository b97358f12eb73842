import type { IncomingHttpHeaders } from 'node:http'
import type { Database } from '@backoffice/postgres/database.ts'
import type { Component } from '@backoffice/runtime/process.ts'
import { bearerToken, invalidApiKey } from '../authorization/bearer-token.ts'
import { findKey, type KnownKey } from './find-key.ts'
import { keyCache } from './key-cache.ts'
import { hashOf, isWellFormed } from './key-format.ts'

/** Finds the key of a request. As a component of the process it listens for changes of keys. */
export interface Authenticator extends Component {
  /** The key of a request. Throws `invalid_api_key` when it is missing, malformed, unknown or revoked, or when its workspace is
   * suspended or deleted (OP-02). */
  authenticate(headers: IncomingHttpHeaders, now: Date): Promise<KnownKey>
}

/** The channel on which the database sends a workspace's id when one of its keys or settings changes. */
const CHANGES = 'gateway_workspace_changed'

/** Checks API keys against the database. Keeps answers for 5 s at most, and until the database announces a change. */
export function authenticator(worker: Database): Authenticator {
  const keys = keyCache((hash) => findKey(worker.sql, hash))
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
      if (key.revokedAt !== null && key.revokedAt <= now) throw invalidApiKey('The API key has been revoked')
      if (key.isDeleted) throw invalidApiKey('The workspace of the API key has been deleted')
      if (key.isSuspended) throw invalidApiKey('The workspace of the API key is suspended')
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
