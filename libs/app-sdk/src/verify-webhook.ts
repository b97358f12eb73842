import { createHmac, timingSafeEqual } from 'node:crypto'

/** An event as webhooks deliver it. `data` is the resource after the change. */
export interface WebhookEvent {
  /** The same in every delivery of the event: ignore an id that you have handled. */
  readonly id: string
  readonly type: string
  /** ISO 8601. */
  readonly timestamp: string
  readonly livemode: boolean
  readonly data: unknown
}

/** A request as it arrived. */
interface WebhookRequest {
  /** Those of a node:http request: names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The raw bytes. JSON that was parsed and written out again is other bytes. */
  readonly rawBody: Uint8Array
}

/** A webhook that is not genuine, or that is too old. Answer 400. */
export class WebhookRefused extends Error {
  override readonly name = 'WebhookRefused'
}

/** A timestamp may lie so many seconds before or after now. */
const TOLERANCE_S = 300

/**
 * Verifies a delivery and returns its event, with the installation whose secret has signed it. All installations of an
 * app share one URL, so the secret tells the workspace. While a secret is replaced the header has a signature for each
 * secret; one that matches is enough. Throws a WebhookRefused. `now` is in milliseconds.
 */
export function verifyWebhook<Installation extends { readonly webhookSecret?: string | undefined }>(
  { headers, rawBody }: WebhookRequest,
  installations: Iterable<Installation>,
  now: number = Date.now(),
): { readonly event: WebhookEvent; readonly installation: Installation } {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers
  if (!/^\d{1,12}$/.test(String(timestamp)) || Math.abs(now / 1000 - Number(timestamp)) > TOLERANCE_S) {
    throw new WebhookRefused('Webhook-Timestamp is missing or more than 300 seconds from now')
  }
  const given = String(signatures)
    .split(' ')
    .map((signature) => Buffer.from(signature))
  for (const installation of installations) {
    const key = keyOf(installation.webhookSecret)
    if (key === undefined) continue
    const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(rawBody).digest('hex')
    const expected = Buffer.from(`v1,${digest}`)
    if (given.some((signature) => signature.length === expected.length && timingSafeEqual(signature, expected))) {
      return { event: JSON.parse(Buffer.from(rawBody).toString('utf8')), installation }
    }
  }
  throw new WebhookRefused('no signature of Webhook-Signature matches')
}

/** The key of a secret `whsec_…`; undefined without one: an empty key would verify what anybody can sign. */
function keyOf(secret = ''): Buffer | undefined {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return key.length > 0 ? key : undefined
}
