import type { IncomingHttpHeaders } from 'node:http'
import type { Database } from '@backoffice/postgres/database.ts'
import type { Part } from '@backoffice/runtime/process.ts'
import { findKey, type KnownKey } from './find-key.ts'
import { keyCache } from './key-cache.ts'
import { hashOf } from './key-format.ts'
import { invalidApiKey, presentedKey } from './presented-key.ts'

/** Finds out who sends a request; as a part of the process it listens for announced changes. */
export interface Authenticator extends Part {
  /** The key a request brings. Throws `invalid_api_key` when it is missing, malformed, unknown or revoked (OP-02). */
  authenticate(headers: IncomingHttpHeaders, now: Date): Promise<KnownKey>
}

/** Announced by the database, with the workspace's id, whenever a key or a setting of a workspace changes. */
const CHANGES = 'gateway_workspace_changed'

/** Checks API keys against the database, through a memory of at most 5 s that announced changes cut short. */
export function authenticator(worker: Database): Authenticator {
  const keys = keyCache((hash) => findKey(worker.sql, hash))
  return {
    name: 'api keys',
    async start() {
      // What was announced while the connection was away went unheard: whenever it is back, everything is forgotten.
      await worker.sql.listen(CHANGES, keys.forgetWorkspace, keys.clear)
    },
    async authenticate(headers, now) {
      const found = keys.get(hashOf(presentedKey(headers)), now.getTime())
      const key = found instanceof Promise ? await found : found
      if (key === undefined) throw invalidApiKey('The API key is unknown')
      if (key.revokedAt !== null && key.revokedAt <= now) throw invalidApiKey('The API key has been revoked')
      return key
    },
  }
}
