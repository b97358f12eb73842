import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import { GRANTS } from '@backoffice/contracts/scopes.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { hashOf, newKey, newSecret } from './key-format.ts'

/** The scopes of a new key (OP-04). */
export const NewScopes = z.array(z.enum(GRANTS)).min(1).max(GRANTS.length)

/** The answer to the creation of a key: the only one that shows `key` (OP-05). */
export const IssuedKey = z.strictObject({
  id: Id,
  name: z.string(),
  scopes: z.array(z.string()),
  livemode: z.boolean(),
  created_at: Timestamp,
  key: z.string(),
})
export type IssuedKey = z.output<typeof IssuedKey>

type NewKey = Pick<IssuedKey, 'id' | 'name' | 'scopes' | 'livemode'>

/** Creates a key in the transaction's workspace. The database stores its hash; only the answer has the key itself. */
export async function issueKey(tx: Transaction, { id, name, scopes, livemode }: NewKey, now: Date): Promise<IssuedKey> {
  const key = newKey(id, livemode, newSecret())
  await tx`
    insert into api_key (workspace_id, id, key_hash, name, scopes, created_at, activated_at)
    values (${tx.context.workspaceId}, ${id}, ${Buffer.from(hashOf(key), 'hex')}, ${name}, ${scopes}, ${now}, ${now})`
  return { id, name, scopes, livemode, created_at: now.toISOString(), key }
}
