import type { Database } from '@backoffice/postgres/database.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { type SecretKeys, unknownKeys } from '@backoffice/secrets/secret-box.ts'

/**
 * Logs an error at the start when secrets of calls are sealed with keys that this process was not given. It starts all
 * the same: these calls wait, and the others go on (OP-107).
 */
export const reportUnknownKeys = (worker: Database, keys: SecretKeys, logger: Logger): Component => ({
  name: 'secret keys of calls',
  async start() {
    const used = await worker.sql<{ id: string }[]>`
      select distinct sealed_with as id from call where sealed_with is not null`
    const ids = used.map(({ id }) => id)
    const err = unknownKeys('APP_SECRET_KEYS', ids, keys)
    if (err !== undefined) logger.error({ err }, 'calls to apps wait for their keys')
  },
})
