import type { AnySql } from '@backoffice/postgres/database.ts'
import { SecretKeys, unknownKeys } from '@backoffice/secrets/secret-box.ts'
import { variableOrFile } from '@backoffice/secrets/variable-or-file.ts'

const VARIABLE = 'WEBHOOK_SECRET_KEYS'

/** The keys that seal signing secrets, in the configuration. */
export const secretKeys = variableOrFile(VARIABLE, SecretKeys)

/** An error that names the key ids in use that are not among the keys; undefined when there are none. */
export const missingKeys = (used: readonly string[], keys: SecretKeys): Error | undefined =>
  unknownKeys(VARIABLE, used, keys)

/** Throws when a stored secret is sealed with a key that this process does not have. */
export async function refuseMissingKeys(sql: AnySql, keys: SecretKeys): Promise<void> {
  const used = await sql<{ secret_key_id: string }[]>`
    select secret_key_id from endpoint union select secret_key_id from previous_secret`
  const ids = used.map((row) => row.secret_key_id)
  const missing = missingKeys(ids, keys)
  if (missing !== undefined) throw missing
}
