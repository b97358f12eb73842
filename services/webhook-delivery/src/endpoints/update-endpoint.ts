import { isDeepStrictEqual } from 'node:util'
import { EnabledEvents } from '@backoffice/contracts/enabled-events.ts'
import { Description, Id } from '@backoffice/contracts/fields.ts'
import { named } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { ok } from '@backoffice/http/reply.ts'
import { refuseForbiddenTarget } from '@backoffice/outbound/forbidden-target.ts'
import { targetUrl } from '@backoffice/outbound/target-url.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { z } from 'zod'
import type { EndpointCreation } from './create-endpoint.ts'
import { Endpoint, type EndpointRow, endpointsChanged, endpointView, lockEndpoint } from './endpoint.ts'

/** PUT /v1/webhooks/{id}: changes the members that are sent; without a change `updated_at` stays (OP-60, OP-97). */
export const updateEndpoint = ({ policy, resolve }: Omit<EndpointCreation, 'keys'>) =>
  operation({
    operationId: 'updateWebhookEndpoint',
    method: 'PUT',
    path: '/v1/webhooks/{id}',
    summary: 'Update a webhook endpoint',
    scope: 'webhook::update',
    params: z.strictObject({ id: Id }),
    body: named(
      'WebhookEndpointUpdate',
      z.strictObject({
        url: targetUrl(policy).optional(),
        enabled_events: EnabledEvents.optional(),
        description: Description.nullish(),
        standard_signature: z.boolean().optional(),
      }),
      { enabled_events: ['*'] },
    ),
    responses: { 200: Endpoint },
    openPoints: ['OP-60', 'OP-62', 'OP-70', 'OP-73', 'OP-75', 'OP-76', 'OP-97', 'OP-99'],
    extension: true,

    async handle({ params, body, now, inWorkspace }) {
      if (body.url !== undefined)
        await refuseForbiddenTarget({ url: new URL(body.url), path: ['url'] }, policy, resolve)
      return inWorkspace(async (tx) => {
        const current = await lockEndpoint(tx, params.id)
        const next = { ...current, ...(body as Partial<EndpointRow>) }
        if (isDeepStrictEqual(next, current)) return ok(endpointView(current))
        const row = await writeEndpoint(tx, next, now)
        return ok(endpointView({ ...next, ...row }))
      })
    },
  })

/** Writes a locked endpoint. `updated_at` never goes back, even when the clocks of two replicas differ. */
async function writeEndpoint(tx: Transaction, next: EndpointRow, now: Date): Promise<{ updated_at: Date }> {
  const [[written]] = await Promise.all([
    tx<[{ updated_at: Date }]>`
      update endpoint set
        url = ${next.url}, enabled_events = ${next.enabled_events}, description = ${next.description},
        standard_signature = ${next.standard_signature}, updated_at = greatest(updated_at, ${now})
      where workspace_id = ${tx.context.workspaceId} and id = ${next.id}
      returning updated_at`,
    endpointsChanged(tx),
  ])
  return written
}
