import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import { newToken } from '../../credentials/operators/token-format.ts'
import { hashOf } from '../../credentials/secret-text.ts'

/** The answer to the creation of an operator token: the only one that shows `token`. */
export const IssuedToken = z.strictObject({ id: Id, name: z.string(), token: z.string(), created_at: Timestamp })
export type IssuedToken = z.output<typeof IssuedToken>

interface NewToken {
  readonly id: string
  readonly name: string
  /** The token before a rotation; null for an operator's first. */
  readonly replaces: string | null
}

/**
 * Creates an operator token, or returns undefined when the first token of an operator has a name that is taken. The
 * database stores its hash; only the answer has the token itself.
 */
export async function issueToken(
  sql: AnySql,
  { id, name, replaces }: NewToken,
  now: Date,
): Promise<IssuedToken | undefined> {
  const token = newToken(id)
  const { count } = await sql`
    insert into operator_token (id, name, replaces, token_hash, created_at)
    values (${id}, ${name}, ${replaces}, ${Buffer.from(hashOf(token), 'hex')}, ${now})
    on conflict (lower(name)) where replaces is null do nothing`
  return count === 0 ? undefined : { id, name, token, created_at: now.toISOString() }
}
