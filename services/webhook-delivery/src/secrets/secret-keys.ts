import type { AnySql } from '@backoffice/postgres/database.ts'
import { SecretKeys, unknownKeys } from '@backoffice/secrets/secret-box.ts'

const VARIABLE = 'WEBHOOK_SECRET_KEYS'

/** The setting of the keys that seal signing secrets. */
export const SECRET_KEYS = {
  [VARIABLE]: SecretKeys.describe(
    'The keys that encrypt signing secrets: `<key id>:<base64 of 32 bytes>`, comma-separated. The first encrypts, all decrypt.',
  ).meta({ secret: true }),
}

/** An error that names the keys of stored secrets that are not among these; undefined when there are none. `sql` is of the worker role. */
export async function missingKeys(sql: AnySql, keys: SecretKeys): Promise<Error | undefined> {
  const used = await sql<{ secret_key_id: string }[]>`
    select secret_key_id from endpoint union select secret_key_id from previous_secret`
  return unknownKeys(
    VARIABLE,
    used.map((row) => row.secret_key_id),
    keys,
  )
}
