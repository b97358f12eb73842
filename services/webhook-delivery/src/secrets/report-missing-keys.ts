import type { Sql } from '@backoffice/postgres/database.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import type { SecretKeys } from '@backoffice/secrets/secret-box.ts'
import { missingKeys } from './secret-keys.ts'

/**
 * Logs an error at the start when stored secrets are sealed with keys that this process was not given. It starts all the same: the
 * deliveries of these endpoints wait, and the others go on (OP-107). `sql` is of the worker role.
 */
export const reportMissingKeys = (sql: Sql, keys: SecretKeys, logger: Logger): Component => ({
  name: 'keys of signing secrets',
  async start() {
    const err = await missingKeys(sql, keys)
    if (err !== undefined) logger.error({ err }, 'the deliveries of some endpoints wait for a key')
  },
})
