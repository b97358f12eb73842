import { TOPICS } from '@backoffice/contracts/events.ts'
import type { RequestContext } from '@backoffice/http/internal-token.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { outboxRecord, publish } from '@backoffice/postgres/outbox.ts'

/** Who acts, and in which request: the operator or the merchant, as the gateway says. */
export type Actor = Pick<RequestContext, 'keyId' | 'requestId' | 'who'>

/** The service itself, when it acts without a request. */
export const SYSTEM_ACTOR: Actor = { keyId: 'apps', requestId: '', who: 'system' }

/** Who holds the key of a request: the merchant, or support in a session. */
export function keyHolder({ who, keyId, requestId }: RequestContext): Actor {
  const isSupport = who === 'support'
  return {
    keyId: `${isSupport ? 'support session' : 'key'} ${keyId}`,
    who: isSupport ? 'support' : 'merchant',
    requestId,
  }
}

export type Action =
  | 'app.registered'
  | 'app.updated'
  | `app.${'suspended' | 'resumed' | 'deleted'}`
  | 'installation.created'
  | 'installation.consented'
  | 'installation.declined'
  | 'installation.provisioned'
  | 'installation.activated'
  | 'installation.failed'
  | 'installation.uninstalled'
  | 'installation.purged'
  | 'installation.purge_failed'

/** Adds an act to the gateway's audit log, in its transaction (OP-86). `target` is a path under /admin/v1. */
export function recordAct(
  tx: Transaction,
  { keyId: actor, requestId, who }: Actor,
  action: Action,
  target: `apps/${string}` | `installations/${string}`,
  now: Date,
): Promise<void> {
  const data = { actor, action, target, request_id: requestId, ...(who && { who }) }
  return publish(tx, [outboxRecord(TOPICS.appsActs, 'act.recorded', target, data)], now)
}
