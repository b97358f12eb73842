import { isDeepStrictEqual } from 'node:util'
import { namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { refuseForbiddenTarget } from '@backoffice/outbound/forbidden-target.ts'
import { targetUrl } from '@backoffice/outbound/target-url.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import type { EndpointCreation } from './create-endpoint.ts'
import { ENDPOINT, Endpoint, type EndpointRecord, endpointRow, endpointsChanged, lockEndpoint } from './endpoint.ts'

/** PUT /v1/webhooks/{id}: changes the members that are sent; without a change `updated_at` stays (OP-60, OP-97). */
export const updateEndpoint = ({ policy, resolve }: Omit<EndpointCreation, 'keys'>) =>
  operation({
    operationId: 'updateWebhookEndpoint',
    method: 'PUT',
    path: '/v1/webhooks/{id}',
    summary: 'Update a webhook endpoint',
    scope: 'webhook::update',
    body: namedObject(
      'WebhookEndpointUpdate',
      { ...ENDPOINT.shapes.update, url: targetUrl(policy).optional() },
      { enabled_events: ['*'] },
    ),
    takesIfMatch: true,
    responses: { 200: Endpoint },
    openPoints: ['OP-60', 'OP-62', 'OP-70', 'OP-73', 'OP-75', 'OP-76', 'OP-97', 'OP-99', 'OP-266'],
    extension: true,

    async handle({ params, body, now, inWorkspace, requireMatch }) {
      const target = body.url === undefined ? undefined : { url: new URL(body.url), path: ['url'] }
      // A refusal waits until the endpoint is known to be there, and as `If-Match` says.
      const judged = target && refuseForbiddenTarget(target, policy, resolve)
      await Promise.allSettled([judged])
      return inWorkspace(async (tx) => {
        const current = await lockEndpoint(tx, params.id)
        requireMatch?.(ENDPOINT.answerOf(current))
        await judged
        const next = ENDPOINT.changed(current, body)
        if (isDeepStrictEqual(next, current)) return ok(ENDPOINT.answerOf(current))
        return ok(ENDPOINT.answerOf({ ...next, updatedAt: await writeEndpoint(tx, next, now) }))
      })
    },
  })

/** Writes a locked endpoint. `updated_at` never goes back, even when the clocks of two replicas differ. */
async function writeEndpoint(tx: Transaction, next: EndpointRecord, now: Date): Promise<Date> {
  const [[written]] = await Promise.all([
    tx<[{ updatedAt: Date }]>`
      update endpoint set ${tx.unsafe(ENDPOINT.sql.assignments(ENDPOINT.updated))}, updated_at = greatest(endpoint.updated_at, ${now})
      from ${endpointRow(tx, next)}
      where endpoint.workspace_id = ${tx.context.workspaceId} and endpoint.id = ${next.id}
      returning endpoint.updated_at as "updatedAt"`,
    endpointsChanged(tx),
  ])
  return written.updatedAt
}
