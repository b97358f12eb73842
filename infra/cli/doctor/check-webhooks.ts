import { randomUUID } from 'node:crypto'
import { type AppManifest, webhookUrl } from '@backoffice/contracts/app-manifest.ts'
import { signatureOf } from '../../../services/webhook-delivery/src/secrets/signature.ts'
import { newSigningKey } from '../../../services/webhook-delivery/src/secrets/signing-secret.ts'
import { ask } from './ask.ts'
import { type Examined, expectRefusal, expectSuccess, type Finding } from './finding.ts'

const TOO_OLD_S = 3600

/** Webhooks with the secret that the app was provisioned with (App rule 5; OP-62, OP-63). */
export async function checkWebhooks({ origin, manifest, webhookKey, workspaceId }: Examined): Promise<Finding[]> {
  if (!manifest.webhooks) return []
  const { path } = manifest.webhooks
  const url = webhookUrl(path, origin, workspaceId)
  const id = randomUUID()
  // The space makes other bytes than JSON.stringify: an app that parses and writes again does not verify them.
  const body = `{"id": "${id}", "type": "webhook.ping", "timestamp": "${new Date().toISOString()}", "livemode": false, "data": {"id": "${id}"}}`
  const genuine = webhookHeaders(manifest, id, body, [webhookKey])
  const foreignKey = newSigningKey()
  const { 'webhook-signature': _, ...unsigned } = genuine

  const post = (headers: Record<string, string>, text = body) => ask(url, text, headers)
  const another = webhookUrl(path, origin, randomUUID())
  const ofAnother = 'webhooks refuse a delivery at the path of another workspace'
  return [
    expectRefusal(
      'webhooks refuse a signature by another secret',
      await post(webhookHeaders(manifest, id, body, [foreignKey])),
    ),
    expectRefusal('webhooks refuse a body that was changed', await post(genuine, body.replace('false', 'true'))),
    expectRefusal(
      'webhooks refuse a timestamp of an hour ago',
      await post(webhookHeaders(manifest, id, body, [webhookKey], TOO_OLD_S)),
    ),
    expectRefusal('webhooks refuse a delivery without signature', await post(unsigned)),
    ...(another.href === url.href ? [] : [expectRefusal(ofAnother, await ask(another, body, genuine))]),
    expectSuccess('webhooks accept a genuine delivery', await post(genuine)),
    expectSuccess('webhooks accept the same event again', await post(genuine)),
    expectSuccess(
      'webhooks accept one of two signatures',
      await post(webhookHeaders(manifest, id, body, [foreignKey, webhookKey])),
    ),
  ]
}

/** After an uninstall the app has no secret that could verify a delivery. */
export async function checkForgotten({ origin, manifest, webhookKey, workspaceId }: Examined): Promise<Finding[]> {
  if (!manifest.webhooks) return []
  const id = randomUUID()
  const body = JSON.stringify({ id, type: 'webhook.ping', livemode: false, data: { id } })
  const url = webhookUrl(manifest.webhooks.path, origin, workspaceId)
  const answer = await ask(url, body, webhookHeaders(manifest, id, body, [webhookKey]))
  return [expectRefusal('after the uninstall the webhook secret is forgotten', answer)]
}

/** The headers of a webhook that each key signed `age` seconds ago, as the manifest asks for (OP-62, OP-234). */
function webhookHeaders(
  { webhooks }: AppManifest,
  id: string,
  body: string,
  keys: readonly Buffer[],
  age = 0,
): Record<string, string> {
  const now = new Date()
  const timestamp = Math.floor(now.getTime() / 1000) - age
  const signing = {
    keys: keys.map((key) => ({ key, endsAt: null })),
    isStandardToo: webhooks?.standard_signature === true,
  }
  const signature = signatureOf(signing, { id, timestamp, body }, now)
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signature }
}
