import type { Sql } from '@backoffice/postgres/database.ts'
import type { Component } from '@backoffice/runtime/component.ts'
import type { Logger } from '@backoffice/runtime/logger.ts'
import { SecretKeys, unknownKeys } from '@backoffice/secrets/secret-box.ts'

const VARIABLE = 'WEBHOOK_SECRET_KEYS'

export const SECRET_KEYS = {
  [VARIABLE]: SecretKeys.describe(
    'The keys that encrypt signing secrets: `<key id>:<base64 of 32 bytes>`, comma-separated. The first encrypts, all decrypt.',
  ).meta({ secret: true }),
}

/** An error that names the keys of stored secrets that are not among these, if any. `sql` is of the worker role. */
export async function missingKeys(sql: Sql, keys: SecretKeys): Promise<Error | undefined> {
  const used = await sql<{ secret_key_id: string }[]>`
    select secret_key_id from endpoint union select secret_key_id from previous_secret`
  return unknownKeys(
    VARIABLE,
    used.map((row) => row.secret_key_id),
    keys,
  )
}

/** Logs keys that this process lacks. It starts all the same: only the deliveries of these endpoints wait (OP-107). */
export const reportMissingKeys = (sql: Sql, keys: SecretKeys, logger: Logger): Component => ({
  name: 'keys of signing secrets',
  async start() {
    const err = await missingKeys(sql, keys)
    if (err !== undefined) logger.error({ err }, 'the deliveries of some endpoints wait for a key')
  },
})
