import { ApiError } from '@backoffice/contracts/errors.ts'
import { RESOURCES } from '@backoffice/contracts/scopes.ts'
import { withoutSecrets } from '@backoffice/http/app.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import type { Database } from '@backoffice/postgres/database.ts'
import { presentTraceparent } from '@backoffice/runtime/trace-context.ts'
import type { FastifyRequest } from 'fastify'
import type { KnownKey } from '../../credentials/keys/find-keys.ts'
import { recordActs } from '../admin-operation.ts'

/** Of a path and a reason in the audit log. Longer ones fit no index. */
const MAX_LENGTH = 1000
const READS = ['GET', 'HEAD']

/**
 * Who calls. A session of support reads; with a reason in `Support-Reason` it may write. The audit log has each of its
 * requests before the request goes on: what cannot be written there is not answered (OP-291).
 */
export async function callerOf(
  { caller, operator }: KnownKey,
  { method, id, raw }: FastifyRequest,
  db: Database,
  now: Date,
): Promise<Caller> {
  if (operator === null) return caller
  const isRead = READS.includes(method)
  const reason = reasonIn(raw.headers['support-reason'])
  if (!isRead && reason === null) {
    const message = `Support-Reason: is missing; a session of support reads, and sends ${method} only with the reason in this header`
    throw new ApiError('insufficient_scope', message)
  }
  const act = {
    action: isRead ? 'support.read' : 'support.written',
    target: withoutSecrets(`${method} ${raw.url?.split('?', 1)[0]}`).slice(0, MAX_LENGTH),
    session_id: caller.keyId,
    reason,
  } as const
  const { workspaceId, livemode } = caller
  const traceparent = presentTraceparent(raw.headers.traceparent)
  await db.inWorkspace({ workspaceId, livemode, traceparent }, (tx) =>
    recordActs(tx, workspaceId, [act], { who: 'support', actor: operator, requestId: id, at: now }),
  )
  return isRead ? caller : { ...caller, scopes: [...RESOURCES] }
}

/** The reason in a header, as UTF-8. */
function reasonIn(header: string | string[] | undefined): string | null {
  const reason = Buffer.from(String(header ?? ''), 'latin1')
    .toString()
    .trim()
  return reason === '' ? null : reason.slice(0, MAX_LENGTH)
}
