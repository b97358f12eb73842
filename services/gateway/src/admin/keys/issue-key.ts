import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { GRANTS } from '@backoffice/contracts/scopes.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { hashOf, type KeyFormat, newSecret } from '../../credentials/keys/key-format.ts'

/** A key of a workspace's own software, or of an installed app (spec: Authentication 5). */
export const KEY_KINDS = ['workspace', 'app'] as const

/** The scopes of a new key (OP-04). */
export const NewScopes = z.array(z.enum(GRANTS)).min(1).max(GRANTS.length)

/** The answer to the creation of a key: the only one that shows `key` (OP-05). */
export const IssuedKey = z.strictObject({
  id: Id,
  name: z.string(),
  kind: z.enum(KEY_KINDS),
  scopes: z.array(z.string()),
  livemode: z.boolean(),
  created_at: Timestamp,
  expires_at: Timestamp.nullable(),
  key: z.string(),
})
export type IssuedKey = z.output<typeof IssuedKey>

/** What a key has besides its id. A rotation passes it on. */
export type KeyTerms = Pick<IssuedKey, 'name' | 'kind' | 'scopes'> & {
  /** For kind `app`: the first key of its rotations. */
  readonly appKeyId: string | null
  /** Null for a key that never expires. */
  readonly expiresAt: Date | null
}

/**
 * Creates a key in the transaction's workspace. The database stores its hash; only the answer has the key itself. Its times are the
 * database's, whose clock ends it.
 */
export async function issueKey(
  tx: Transaction,
  format: KeyFormat,
  { id, livemode }: Pick<IssuedKey, 'id' | 'livemode'>,
  { name, kind, scopes, appKeyId, expiresAt }: KeyTerms,
): Promise<IssuedKey> {
  const [key] = format.textsOf(id, livemode, newSecret())
  const [row] = await tx<{ created_at: Date }[]>`
    insert into api_key
      (workspace_id, id, app_key_id, kind, key_hash, name, scopes, created_at, activated_at, expires_at)
    values (
      ${tx.context.workspaceId}, ${id}, ${appKeyId}, ${kind}, ${Buffer.from(hashOf(key), 'hex')}, ${name}, ${scopes}, now(), now(),
      ${expiresAt}
    )
    returning created_at`
  const expires_at = expiresAt?.toISOString() ?? null
  return {
    id,
    name,
    kind,
    scopes,
    livemode,
    created_at: (row as { created_at: Date }).created_at.toISOString(),
    expires_at,
    key,
  }
}
