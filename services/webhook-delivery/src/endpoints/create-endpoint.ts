import { named } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import { type Resolve, refuseForbiddenTarget } from '@backoffice/outbound/forbidden-target.ts'
import type { TargetPolicy } from '@backoffice/outbound/target-address.ts'
import { targetUrl } from '@backoffice/outbound/target-url.ts'
import { type SecretKeys, sealSecret } from '@backoffice/secrets/secret-box.ts'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { newSigningKey, secretOwner, signingSecretOf } from '../secrets/signing-secret.ts'
import { ENDPOINT, EndpointWithSecret, newEndpoint } from './endpoint.ts'
import { insertEndpoint } from './insert-endpoint.ts'

export interface EndpointCreation {
  readonly policy: TargetPolicy
  readonly keys: SecretKeys
  readonly resolve: Resolve
  /** The most endpoints of a workspace (OP-121). */
  readonly mostEndpoints: number
}

/** POST /v1/webhooks (spec: Subscription). Only this answer shows the signing secret. */
export const createEndpoint = ({ policy, keys, resolve, mostEndpoints }: EndpointCreation) =>
  operation({
    operationId: 'createWebhookEndpoint',
    method: 'POST',
    path: '/v1/webhooks',
    summary: 'Create a webhook endpoint',
    scope: 'webhook::create',
    body: named('WebhookEndpointInput', z.strictObject({ ...ENDPOINT.shapes.create, url: targetUrl(policy) }), {
      url: 'https://shop.example.com/hooks',
      enabled_events: ['order.paid', 'product.updated'],
    }),
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
    ],
    extension: true,

    async handle({ body, context, now, inWorkspace }) {
      await refuseForbiddenTarget({ url: new URL(body.url), path: ['url'] }, policy, resolve)
      const endpoint = newEndpoint(uuidv7(), body, now)
      const key = newSigningKey()
      const sealed = sealSecret(keys, key, secretOwner(context.workspaceId, endpoint.id))
      return inWorkspace(async (tx) => {
        await insertEndpoint(tx, endpoint, sealed, mostEndpoints)
        return created(
          { ...ENDPOINT.answerOf(endpoint), secret: signingSecretOf(key) },
          `webhook endpoint ${endpoint.id}`,
        )
      })
    },
  })
