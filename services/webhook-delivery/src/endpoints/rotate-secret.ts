import { conflict } from '@backoffice/contracts/errors.ts'
import { namedObject } from '@backoffice/contracts/named.ts'
import { operation } from '@backoffice/http/operation.ts'
import { Reply } from '@backoffice/http/reply.ts'
import type { Transaction } from '@backoffice/postgres/database.ts'
import { databaseTime } from '@backoffice/postgres/database-clock.ts'
import { type SealedSecret, type SecretKeys, sealSecret } from '@backoffice/secrets/secret-box.ts'
import { z } from 'zod'
import { newSigningKey, secretOwner, signingSecretOf } from '../secrets/signing-secret.ts'
import { ENDPOINT, type EndpointRecord, EndpointWithSecret, endpointsChanged, lockEndpoint } from './endpoint.ts'

const MAX_OVERLAP_S = 86_400
/** Each previous secret lengthens the signature header of every delivery. */
const MAX_PREVIOUS = 4

/** POST /v1/webhooks/{id}/secret/rotate (spec: Webhooks; OP-63). Only this answer shows the new secret. */
export const rotateSecret = (keys: SecretKeys) =>
  operation({
    operationId: 'rotateWebhookSecret',
    method: 'POST',
    path: '/v1/webhooks/{id}/secret/rotate',
    summary: 'Rotate the signing secret of a webhook endpoint',
    scope: 'webhook::create',
    body: namedObject(
      'SecretRotation',
      { overlap_seconds: z.int().min(0).max(MAX_OVERLAP_S).default(0) },
      { overlap_seconds: 3600 },
    ).prefault({}),
    responses: { 200: EndpointWithSecret },
    openPoints: ['OP-08', 'OP-60', 'OP-62', 'OP-63', 'OP-98'],

    handle({ params, body, context, inWorkspace }) {
      const key = newSigningKey()
      return inWorkspace(async (tx) => {
        const now = await databaseTime(tx)
        const endsAt = new Date(now.getTime() + body.overlap_seconds * 1000)
        const [current, previous] = await Promise.all([lockEndpoint(tx, params.id), countPrevious(tx, params.id, now)])
        if (endsAt > now && previous >= MAX_PREVIOUS) throw tooManySecrets()
        const sealed = sealSecret(keys, key, secretOwner(context.workspaceId, current.id))
        const row = await replaceSecret(tx, current, sealed, now, endsAt)
        const answer = { ...ENDPOINT.answerOf(row), secret: signingSecretOf(key) }
        return new Reply(200, answer, `a new secret of webhook endpoint ${row.id}`)
      })
    },
  })

const tooManySecrets = () =>
  conflict(
    ['overlap_seconds'],
    `${MAX_PREVIOUS} replaced secrets still sign; wait until one ends, or send 0 to end them all now`,
    'limit_reached',
  )

/** Counts after the endpoint is locked, so that it includes a rotation at the same moment. */
async function countPrevious(tx: Transaction, id: string, now: Date): Promise<number> {
  const [{ count }] = await tx<[{ count: number }]>`
    select count(*) from previous_secret
    where workspace_id = ${tx.context.workspaceId} and endpoint_id = ${id} and ends_at > ${now}`
  return count
}

/** The replaced secrets sign until `endsAt` at most; one not after `now` ends them at once. */
async function replaceSecret(
  tx: Transaction,
  current: EndpointRecord,
  { keyId, sealed }: SealedSecret,
  now: Date,
  endsAt: Date,
): Promise<EndpointRecord> {
  const { workspaceId } = tx.context
  const [[written]] = await Promise.all([
    tx<[{ updatedAt: Date }]>`
      with ended as (
        delete from previous_secret
        where workspace_id = ${workspaceId} and endpoint_id = ${current.id} and least(ends_at, ${endsAt}) <= ${now}
      ), shortened as (
        update previous_secret set ends_at = ${endsAt}
        where workspace_id = ${workspaceId} and endpoint_id = ${current.id}
          and ends_at > ${endsAt} and ${endsAt}::timestamptz > ${now}
      ), kept as (
        insert into previous_secret (workspace_id, endpoint_id, id, secret_key_id, sealed_secret, ends_at)
        select workspace_id, id, uuidv7(), secret_key_id, sealed_secret, ${endsAt}
        from endpoint
        where workspace_id = ${workspaceId} and id = ${current.id} and ${endsAt}::timestamptz > ${now}
      )
      update endpoint set
        secret_key_id = ${keyId}, sealed_secret = ${sealed}, updated_at = greatest(updated_at, ${now})
      where workspace_id = ${workspaceId} and id = ${current.id}
      returning updated_at as "updatedAt"`,
    endpointsChanged(tx),
  ])
  return { ...current, ...written }
}
