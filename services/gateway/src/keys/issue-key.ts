import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { hashOf, newKey } from './key-format.ts'

/** A key as it is answered when it is made: the only time that `key` is shown (OP-05). */
export const IssuedKey = z.strictObject({
  id: Id,
  name: z.string(),
  scopes: z.array(z.string()),
  livemode: z.boolean(),
  created_at: Timestamp,
  key: z.string(),
})

/** What a new key is made from. */
export interface KeyOrder {
  readonly id: string
  readonly name: string
  readonly scopes: string[]
  readonly livemode: boolean
}

/** An id for a key: made ahead of it, for the audit log. */
export const newKeyId = (): string => uuidv7()

/** Makes a key in the transaction's workspace and stores its hash; the answer is the only place where the key is. */
export async function issueKey(tx: Transaction, order: KeyOrder, now: Date): Promise<z.output<typeof IssuedKey>> {
  const { id, name, scopes, livemode } = order
  const key = newKey(id, livemode)
  await tx`
    insert into api_key (workspace_id, id, key_hash, name, scopes, created_at)
    values (${tx.context.workspaceId}, ${id}, ${Buffer.from(hashOf(key), 'hex')}, ${name}, ${scopes}, ${now})`
  return { id, name, scopes, livemode, created_at: now.toISOString(), key }
}
