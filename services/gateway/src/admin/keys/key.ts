import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { GRANTS } from '@backoffice/contracts/scopes.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { AnySql, Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import type { KeyFormat } from '../../credentials/keys/key-format.ts'
import { hashOf, newSecret } from '../../credentials/secret-text.ts'

/** The scopes of a new key (OP-04). */
export const NewScopes = z.array(z.enum(GRANTS)).min(1).max(GRANTS.length)

const NewKey = z.strictObject({
  id: Id,
  name: z.string(),
  /** A key of a workspace's own software, or of an installed app (spec: Authentication 5). */
  kind: z.enum(['workspace', 'app']),
  scopes: z.array(z.string()),
  livemode: z.boolean(),
  created_at: Timestamp,
  expires_at: Timestamp.nullable(),
})

/** An API key without the key itself. `last_used_at` is up to a minute behind. */
export const Key = NewKey.extend({ last_used_at: Timestamp.nullable(), revoked_at: Timestamp.nullable() })

/** The columns of a Key, from `api_key join workspace`. */
export const keyColumns = (sql: AnySql): SqlPart => sql`
  api_key.id, api_key.name, kind, scopes, livemode, api_key.created_at, expires_at, last_used_at, revoked_at`

/** The answer to the creation of a key: the only one that shows `key` (OP-05). */
export const IssuedKey = NewKey.extend({ key: z.string() })
export type IssuedKey = z.output<typeof IssuedKey>

/** What a rotation passes on. */
export type KeyTerms = Pick<IssuedKey, 'name' | 'scopes'> & {
  /** Null for a key that never expires. */
  readonly expiresAt: Date | null
}

/**
 * Creates a key of the transaction's workspace, and returns the body of the answer. The database stores the key's hash;
 * only the answer has the key itself. Its times are the database's, whose clock ends it.
 */
export async function issueKey(
  tx: Transaction,
  format: KeyFormat,
  { id, livemode, requestKey = null }: Pick<IssuedKey, 'id' | 'livemode'> & { readonly requestKey?: string | null },
  { name, scopes, expiresAt }: KeyTerms,
) {
  const [key] = format.textsOf(id, livemode, newSecret())
  const [row] = await tx`
    insert into api_key
      (workspace_id, id, key_hash, name, scopes, created_at, activated_at, expires_at, request_key)
    values (
      ${tx.context.workspaceId}, ${id}, ${Buffer.from(hashOf(key), 'hex')}, ${name}, ${scopes}, now(), now(),
      ${expiresAt}, ${requestKey}
    )
    returning id, name, kind, scopes, ${livemode}::boolean as livemode, created_at, expires_at`
  return { ...row, key }
}
