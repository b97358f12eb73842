import { conflict } from '@backoffice/contracts/errors.ts'
import { named } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { created } from '@backoffice/http/reply.ts'
import { type Resolve, refuseForbiddenTarget } from '@backoffice/outbound/forbidden-target.ts'
import type { TargetPolicy } from '@backoffice/outbound/target-address.ts'
import { targetUrl } from '@backoffice/outbound/target-url.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { type SecretKeys, sealSecret } from '@backoffice/secrets/secret-box.ts'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { newSigningKey, secretOwner, signingSecretOf } from '../secrets/signing-secret.ts'
import {
  ENDPOINT,
  type EndpointRecord,
  EndpointWithSecret,
  endpointRow,
  endpointsChanged,
  newEndpoint,
} from './endpoint.ts'

export interface EndpointCreation {
  readonly policy: TargetPolicy
  readonly keys: SecretKeys
  readonly resolve: Resolve
  /** The most endpoints of a workspace (OP-121). */
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
    ],
    extension: true,

    async handle({ body, now, inWorkspace }) {
      await refuseForbiddenTarget({ url: new URL(body.url), path: ['url'] }, creation.policy, creation.resolve)
      const endpoint = newEndpoint(uuidv7(), body, now)
      const key = newSigningKey()
      return inWorkspace(async (tx) => {
        await insertEndpoint(tx, endpoint, key, creation)
        return created(
          { ...ENDPOINT.answerOf(endpoint), secret: signingSecretOf(key) },
          `webhook endpoint ${endpoint.id}`,
        )
      })
    },
  })

/** Inserts an endpoint, whose id is new. Throws `conflict` when the workspace has as many as it may (OP-121). */
export async function insertEndpoint(
  tx: Transaction,
  endpoint: EndpointRecord,
  key: Buffer,
  { keys, mostEndpoints }: EndpointCreation,
): Promise<void> {
  const { workspaceId } = tx.context
  const { keyId, sealed } = sealSecret(keys, key, secretOwner(workspaceId, endpoint.id))
  // The change locks the workspace's row, so whoever creates another endpoint meanwhile counts this one.
  const changed = endpointsChanged(tx)
  const inserting = tx`
    insert into endpoint (workspace_id, secret_key_id, sealed_secret, ${tx.unsafe(ENDPOINT.sql.columns)})
    select ${workspaceId}, ${keyId}::text, ${sealed}::bytea, ${tx.unsafe(ENDPOINT.sql.members)} from ${endpointRow(tx, endpoint)}
    where (select count(*) from endpoint where workspace_id = ${workspaceId}) < ${mostEndpoints}`
  const [, { count }] = await Promise.all([changed, inserting])
  if (count === 0) {
    throw conflict([], `this workspace has ${mostEndpoints} webhook endpoints, and may have no more; delete one first`)
  }
}
