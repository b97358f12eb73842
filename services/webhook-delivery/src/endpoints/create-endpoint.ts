import { Description } from '@backoffice/contracts/fields.ts'
import { named } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { type SealedSecret, type SecretKeys, sealSecret } from '../secrets/secret-box.ts'
import { newSigningKey, secretOwner, signingSecretOf } from '../secrets/signing-secret.ts'
import type { TargetPolicy } from '../sending/target-address.ts'
import { EnabledEvents, type EndpointRow, EndpointWithSecret, endpointsChanged, endpointView } from './endpoint.ts'
import { endpointUrl, type Resolve, refuseForbiddenTarget } from './endpoint-url.ts'

export interface EndpointCreation {
  readonly policy: TargetPolicy
  readonly keys: SecretKeys
  readonly resolve: Resolve
}

/** POST /v1/webhooks (spec: Subscription). Only this answer shows the signing secret. */
export const createEndpoint = ({ policy, keys, resolve }: EndpointCreation) =>
  operation({
    operationId: 'createWebhookEndpoint',
    method: 'POST',
    path: '/v1/webhooks',
    summary: 'Create a webhook endpoint',
    scope: 'webhook::create',
    body: named(
      'WebhookEndpointInput',
      z.strictObject({
        url: endpointUrl(policy),
        enabled_events: EnabledEvents,
        description: Description.nullable().default(null),
        standard_signature: z.boolean().default(false),
      }),
      { url: 'https://shop.example.com/hooks', enabled_events: ['order.paid', 'product.updated'] },
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
    ],
    extension: true,

    async handle({ body, context, now, inWorkspace }) {
      await refuseForbiddenTarget(new URL(body.url), policy, resolve)
      const row = { ...body, id: uuidv7(), created_at: now, updated_at: now }
      const key = newSigningKey()
      const sealed = sealSecret(keys, key, secretOwner(context.workspaceId, row.id))
      return inWorkspace(async (tx) => {
        await Promise.all([insertEndpoint(tx, row, sealed), endpointsChanged(tx)])
        return created({ ...endpointView(row), secret: signingSecretOf(key) }, `webhook endpoint ${row.id}`)
      })
    },
  })

async function insertEndpoint(tx: Transaction, row: EndpointRow, { keyId, sealed }: SealedSecret): Promise<void> {
  const { workspaceId } = tx.context
  await tx`
    insert into endpoint (
      workspace_id, id, url, enabled_events, description, standard_signature, secret_key_id, sealed_secret,
      created_at, updated_at
    ) values (
      ${workspaceId}, ${row.id}, ${row.url}, ${row.enabled_events}, ${row.description}, ${row.standard_signature},
      ${keyId}, ${sealed}, ${row.created_at}, ${row.updated_at}
    )`
}
