import type { Transaction } from '@backoffice/postgres/database.ts'
import { type KeyFormat, newSecret } from '../../credentials/keys/key-format.ts'
import { hashOf } from '../../credentials/secret-text.ts'
import type { IssuedKey } from './key.ts'

/** What a key has besides its id. A rotation passes it on. */
export type KeyTerms = Pick<IssuedKey, 'name' | 'kind' | 'scopes'> & {
  /** For kind `app`: the first key of its rotations. */
  readonly appKeyId: string | null
  /** Null for a key that never expires. */
  readonly expiresAt: Date | null
}

/**
 * Creates a key in the transaction's workspace, and returns the body of the answer. The database stores the key's hash;
 * only the answer has the key itself. Its times are the database's, whose clock ends it.
 */
export async function issueKey(
  tx: Transaction,
  format: KeyFormat,
  { id, livemode }: Pick<IssuedKey, 'id' | 'livemode'>,
  { name, kind, scopes, appKeyId, expiresAt }: KeyTerms,
) {
  const [key] = format.textsOf(id, livemode, newSecret())
  const [row] = await tx`
    insert into api_key
      (workspace_id, id, app_key_id, kind, key_hash, name, scopes, created_at, activated_at, expires_at)
    values (
      ${tx.context.workspaceId}, ${id}, ${appKeyId}, ${kind}, ${Buffer.from(hashOf(key), 'hex')}, ${name}, ${scopes}, now(), now(),
      ${expiresAt}
    )
    returning id, name, kind, scopes, ${livemode}::boolean as livemode, created_at, expires_at`
  return { ...row, key }
}
