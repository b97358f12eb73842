import type { Transaction } from '@backoffice/postgres/database.ts'
import { recordActs } from '../../admin/admin-operation.ts'
import { beginSupportSession, begunSession, SESSION_MINUTES } from '../../admin/support/support-session.ts'
import { beginSession, SESSION_SECONDS } from '../../credentials/console/console-sessions.ts'
import type { KeyFormat } from '../../credentials/keys/key-format.ts'
import type { ConsoleLink } from '../links/page-links.ts'

/** Begins the session of a browser that opened a link to the console (OP-310), and writes that to the audit log. */
export async function beginConsole(
  tx: Transaction,
  format: KeyFormat,
  { id, livemode, scopes, operator, fingerprint, reason }: ConsoleLink,
  request: { readonly requestId: string; readonly at: Date },
) {
  const { workspaceId } = tx.context
  if (operator !== null) {
    const session = { id, operator, reason, livemode, fingerprint }
    const { token } = await beginSupportSession(tx, format, session)
    await recordActs(tx, workspaceId, [begunSession(session)], { ...request, who: 'operator', actor: operator })
    return { token, seconds: SESSION_MINUTES * 60 }
  }
  const { token } = await beginSession(tx, format, { id, workspaceId, livemode, scopes: scopes ?? [] })
  const act = { action: 'session.created', target: `workspaces/${workspaceId}`, session_id: id } as const
  await recordActs(tx, workspaceId, [act], { ...request, who: 'merchant', actor: 'merchant' })
  return { token, seconds: SESSION_SECONDS }
}
