import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
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
    inWorkspace(async (tx) => {
      const changes = await tx<ChangedState[]>`
        update endpoint_health as health set state = 'DISABLED', reason = 'requested', since = clock_timestamp()
        where workspace_id = ${tx.context.workspaceId} and endpoint_id = ${id} and state <> 'DISABLED'
        returning ${changedColumns(tx)}`
      return answer(tx, id, changes)
    }),
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
      const changes = await tx<ChangedState[]>`
        update endpoint_health as health
        set state = 'ACTIVE', reason = null, since = clock_timestamp(), failing_since = null, is_gone = false
        where workspace_id = ${tx.context.workspaceId} and endpoint_id = ${id} and state = 'DISABLED'
        returning ${changedColumns(tx)}`
      if (changes.length > 0) await notifyDue(tx, [id])
      return answer(tx, id, changes)
    }),
})

async function answer(tx: Transaction, id: string, changes: readonly ChangedState[]) {
  const { livemode } = tx.context
  await publishStates(
    tx,
    changes.map((change) => ({ ...change, livemode })),
  )
  return ok(await readStatus(tx, id))
}
