import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import type { SqlPart } from '@backoffice/postgres/comma-separated.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { notifyDue } from '../shards/notify-due.ts'
import { type ChangedState, changedColumns, publishStates } from './changed-states.ts'
import { EndpointStatus, readStatus } from './get-endpoint-status.ts'

/** POST /v1/webhooks/{id}/disable (extension, OP-253): its deliveries are made and wait. May be repeated. */
export const disableEndpoint = operation({
  operationId: 'disableWebhookEndpoint',
  method: 'POST',
  path: '/v1/webhooks/{id}/disable',
  summary: 'Let the deliveries of a webhook endpoint wait',
  scope: 'webhook::create',
  responses: { 200: EndpointStatus },
  events: ['webhook.endpoint.disabled'],
  openPoints: ['OP-04', 'OP-253', 'OP-255'],
  extension: true,

  handle: ({ params: { id }, inWorkspace }) =>
    inWorkspace((tx) => changeState(tx, id, tx`state = 'DISABLED', reason = 'requested'`, tx`state <> 'DISABLED'`)),
})

/**
 * POST /v1/webhooks/{id}/enable (extension, OP-253): what has waited is sent in its order, and what was known of its
 * failures counts no more. May be repeated.
 */
export const enableEndpoint = operation({
  operationId: 'enableWebhookEndpoint',
  method: 'POST',
  path: '/v1/webhooks/{id}/enable',
  summary: 'Send what has waited for a disabled webhook endpoint',
  scope: 'webhook::create',
  responses: { 200: EndpointStatus },
  events: ['webhook.endpoint.recovered'],
  openPoints: ['OP-04', 'OP-253', 'OP-255'],
  extension: true,

  handle: ({ params: { id }, inWorkspace }) =>
    inWorkspace(async (tx) => {
      const change = tx`state = 'ACTIVE', reason = null, failing_since = null, is_gone = false`
      return changeState(tx, id, change, tx`state = 'DISABLED'`)
    }),
})

/** Reads what takes long of the status first: attempts are recorded once the changed row is free. */
async function changeState(tx: Transaction, id: string, change: SqlPart, condition: SqlPart) {
  const { workspaceId, livemode } = tx.context
  const status = await readStatus(tx, id)
  const ofEndpoint = tx`health.workspace_id = ${workspaceId} and health.endpoint_id = ${id}`
  const changes = await tx<ChangedState[]>`
    update endpoint_health as health set since = clock_timestamp(), ${change} where ${ofEndpoint} and ${condition}
    returning ${changedColumns(tx)}, ${livemode}::boolean as livemode`
  await publishStates(tx, changes)
  if (changes[0]?.state === 'ACTIVE') await notifyDue(tx, [id])
  const [state] = await tx`
    select state, reason, coalesce(since, ${status.since}) as since from endpoint_health as health where ${ofEndpoint}`
  return ok({ ...status, ...state })
}
