import { Id, Timestamp } from '@backoffice/contracts/fields.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import type { KeyFormat } from '../../credentials/keys/key-format.ts'
import { hashOf, newSecret } from '../../credentials/secret-text.ts'

/** A session of support without its token. */
export const SupportSession = z.strictObject({
  id: Id,
  workspace: Id,
  operator: z.string(),
  reason: z.string().nullable(),
  created_at: Timestamp,
  expires_at: Timestamp,
  ended_at: Timestamp.nullable(),
})

/** The answer to its opening: the only one that shows `token`. */
export const OpenedSession = SupportSession.extend({ livemode: z.boolean(), token: z.string() })
export type OpenedSession = z.output<typeof OpenedSession>

/** How long a session lasts, unless it is ended. */
export const SESSION_MINUTES = 30

interface Begun {
  readonly id: string
  readonly operator: string
  readonly reason: string | null
  readonly livemode: boolean
  /** Of ADMIN_TOKEN. */
  readonly fingerprint: Buffer | null
}

/** Its entry in the audit log. */
export const begunSession = ({ id, reason }: Pick<Begun, 'id' | 'reason'>) =>
  ({ action: 'support_session.created', target: `support-sessions/${id}`, session_id: id, reason }) as const

/** Its end in the audit log. */
export const endedSession = (id: string) =>
  ({ action: 'support_session.ended', target: `support-sessions/${id}`, session_id: id }) as const

/** Begins a session in the transaction's workspace. Returns it with its token, which nothing else has. */
export async function beginSupportSession(tx: Transaction, format: KeyFormat, session: Begun) {
  const { id, operator, reason, livemode, fingerprint } = session
  const [token] = format.textsOf(id, livemode, newSecret(), 'ss')
  const [row] = await tx`
    insert into support_session (workspace_id, id, token_hash, operator, fingerprint, reason, created_at, expires_at)
    values (
      ${tx.context.workspaceId}, ${id}, ${Buffer.from(hashOf(token), 'hex')}, ${operator}, ${fingerprint}, ${reason}, now(),
      now() + make_interval(mins => ${SESSION_MINUTES})
    )
    returning id, workspace_id as workspace, operator, reason, created_at, expires_at, ended_at`
  return { ...row, livemode, token }
}
