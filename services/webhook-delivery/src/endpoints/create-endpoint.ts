import { named } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import { type Resolve, refuseForbiddenTarget } from '@backoffice/outbound/forbidden-target.ts'
import type { TargetPolicy } from '@backoffice/outbound/target-address.ts'
import { targetUrl } from '@backoffice/outbound/target-url.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { newId } from '@backoffice/runtime/clock.ts'
import { type SecretKeys, sealSecret } from '@backoffice/secrets/secret-box.ts'
import { z } from 'zod'
import { newSigningKey, secretOwner, signingSecretOf } from '../secrets/signing-secret.ts'
import { ENDPOINT, type EndpointRecord, EndpointWithSecret, endpointRow, newEndpoint } from './endpoint.ts'
import { madeBy, takePlace } from './owner.ts'

export interface EndpointCreation {
  readonly policy: TargetPolicy
  readonly keys: SecretKeys
  readonly resolve: Resolve
  /** The most endpoints of a workspace, those of apps aside (OP-121). */
  readonly mostEndpoints: number
}

/** POST /v1/webhooks (spec: Subscription). Only this answer shows the signing secret. */
export const createEndpoint = (creation: EndpointCreation) =>
  operation({
    operationId: 'createWebhookEndpoint',
    method: 'POST',
    path: '/v1/webhooks',
    summary: 'Create a webhook endpoint',
    scope: 'webhook::create',
    body: named(
      'WebhookEndpointInput',
      z.strictObject({ ...ENDPOINT.shapes.create, url: targetUrl(creation.policy) }),
      {
        url: 'https://shop.example.com/hooks',
        enabled_events: ['order.paid', 'product.updated'],
      },
    ),
    responses: { 201: EndpointWithSecret },
    openPoints: [
      'OP-08',
      'OP-60',
      'OP-61',
      'OP-62',
      'OP-64',
      'OP-65',
      'OP-70',
      'OP-74',
      'OP-75',
      'OP-76',
      'OP-78',
      'OP-99',
      'OP-121',
      'OP-173',
      'OP-231',
      'OP-232',
    ],
    extension: true,

    async handle({ body, context, now, inWorkspace }) {
      await refuseForbiddenTarget({ url: new URL(body.url), path: ['url'] }, creation.policy, creation.resolve)
      const endpoint = newEndpoint(newId(), body, now)
      const key = newSigningKey()
      return inWorkspace(async (tx) => {
        await takePlace(tx, context, creation.mostEndpoints)
        await insertEndpoint(tx, { ...endpoint, madeBy: madeBy(context) }, key, creation.keys)
        return created(
          { ...ENDPOINT.answerOf(endpoint), secret: signingSecretOf(key) },
          `webhook endpoint ${endpoint.id}`,
        )
      })
    },
  })

/**
 * Inserts an endpoint, whose id is new, after `endpointsChanged`. `madeBy` is the key that has made it; null when a
 * service has.
 */
export async function insertEndpoint(
  tx: Transaction,
  { madeBy, ...endpoint }: EndpointRecord & { readonly madeBy: string | null },
  key: Buffer,
  keys: SecretKeys,
): Promise<void> {
  const { workspaceId } = tx.context
  const { keyId, sealed } = sealSecret(keys, key, secretOwner(workspaceId, endpoint.id))
  await tx`
    insert into endpoint (workspace_id, secret_key_id, sealed_secret, made_by, ${tx.unsafe(ENDPOINT.sql.columns)})
    select ${workspaceId}, ${keyId}::text, ${sealed}::bytea, ${madeBy}::text, ${tx.unsafe(ENDPOINT.sql.members)}
    from ${endpointRow(tx, endpoint)}`
}
