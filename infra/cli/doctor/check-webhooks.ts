import { randomBytes, randomUUID } from 'node:crypto'
import { ask } from './ask.ts'
import { type Examined, expectRefusal, expectSuccess, type Finding } from './finding.ts'
import { webhookHeaders } from './sign.ts'

const TOO_OLD_S = 3600

/** Webhooks with the secret that the app was provisioned with (App rule 5; OP-62, OP-63). */
export async function checkWebhooks({ origin, manifest, installation }: Examined): Promise<Finding[]> {
  if (!manifest.webhooks) return []
  const url = new URL(manifest.webhooks.path, origin)
  const { webhookSecret: secret } = installation
  const id = randomUUID()
  // The space makes other bytes than JSON.stringify: an app that parses and writes again does not verify them.
  const body = `{"id": "${id}", "type": "webhook.ping", "timestamp": "${new Date().toISOString()}", "livemode": false, "data": {"id": "${id}"}}`
  const genuine = webhookHeaders(body, { secret, id })
  const foreign = webhookHeaders(body, { secret: `whsec_${randomBytes(32).toString('base64')}`, id })
  const old = webhookHeaders(body, { secret, id, signedAt: Math.floor(Date.now() / 1000) - TOO_OLD_S })
  const { 'webhook-signature': _, ...unsigned } = genuine
  const both = `${foreign['webhook-signature']} ${genuine['webhook-signature']}`

  const post = (headers: Record<string, string>, text = body) => ask({ method: 'POST', url, headers, body: text })
  return [
    expectRefusal('webhooks refuse a signature by another secret', await post(foreign)),
    expectRefusal('webhooks refuse a body that was changed', await post(genuine, body.replace('false', 'true'))),
    expectRefusal('webhooks refuse a timestamp of an hour ago', await post(old)),
    expectRefusal('webhooks refuse a delivery without signature', await post(unsigned)),
    expectSuccess('webhooks accept a genuine delivery', await post(genuine)),
    expectSuccess('webhooks accept the same event again', await post(genuine)),
    expectSuccess('webhooks accept one of two signatures', await post({ ...genuine, 'webhook-signature': both })),
  ]
}

/** After an uninstall the app has no secret that could verify a delivery. */
export async function checkForgotten({ origin, manifest, installation }: Examined): Promise<Finding[]> {
  if (!manifest.webhooks) return []
  const id = randomUUID()
  const body = JSON.stringify({ id, type: 'webhook.ping', livemode: false, data: { id } })
  const headers = webhookHeaders(body, { secret: installation.webhookSecret, id })
  const answer = await ask({ method: 'POST', url: new URL(manifest.webhooks.path, origin), headers, body })
  return [expectRefusal('after the uninstall the webhook secret is forgotten', answer)]
}
