import { createHmac, timingSafeEqual } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'

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
  /** The raw bytes, or their text. JSON that was parsed and written out again is other bytes. */
  readonly rawBody: string | Uint8Array
}

interface WithSecret {
  readonly webhookSecret?: string | undefined
}

/** A webhook that is not genuine, or that is too old. Answer 400. */
export class WebhookRefused extends Error {
  override readonly name = 'WebhookRefused'
}

/** The bytes of the largest body that the platform sends (OP-120): refuse more before you read it. */
export const MAX_WEBHOOK_BYTES = 8 * 1024 * 1024

/** A timestamp may lie so many seconds before or after now. */
const TOLERANCE_S = 300

/**
 * Verifies a delivery and returns its event. `installation` is that of the workspace in the URL: the manifest's path
 * has `{workspace}` (OP-196), so that one secret is tried; undefined verifies nothing. While a secret is replaced the
 * header has a signature for each secret; one that matches is enough, in hexadecimal digits or in base64, as Standard
 * Webhooks has it. Throws a WebhookRefused.
 */
export function verifyWebhook(request: WebhookRequest, installation: WithSecret | undefined): WebhookEvent {
  const signatures = plausibleSignatures(request)
  if (!isSigned(request, signatures, installation?.webhookSecret)) throw noMatch()
  return eventOf(request)
}

/**
 * As `verifyWebhook`, for a manifest whose path has no `{workspace}`: all installations of the app share one URL, and
 * the secret that matches tells the workspace. It tries all of them, and lets other work run between two. A function,
 * such as `keys.all`, is called only when the request may be genuine.
 */
export async function verifyWebhookOfAny<Installation extends WithSecret>(
  request: WebhookRequest,
  installations: Iterable<Installation> | (() => Promise<Iterable<Installation>>),
): Promise<{ readonly event: WebhookEvent; readonly installation: Installation }> {
  const signatures = plausibleSignatures(request)
  for (const installation of typeof installations === 'function' ? await installations() : installations) {
    if (isSigned(request, signatures, installation.webhookSecret)) return { event: eventOf(request), installation }
    await setImmediate()
  }
  throw noMatch()
}

/** The signatures to compare with, decoded. Refuses a large body, an old timestamp and a header without signatures. */
function plausibleSignatures({ headers, rawBody }: WebhookRequest): Buffer[] {
  const { 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers
  if (Buffer.byteLength(rawBody) > MAX_WEBHOOK_BYTES)
    throw new WebhookRefused(`the body is larger than ${MAX_WEBHOOK_BYTES} bytes`)
  if (!/^\d{1,12}$/.test(String(timestamp)) || Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_S) {
    throw new WebhookRefused('Webhook-Timestamp is missing or more than 300 seconds from now')
  }
  const given = String(signatures).split(' ').flatMap(decoded)
  if (given.length === 0) throw noMatch()
  return given
}

/** The bytes of a signature in base64 or in hexadecimal digits; none when it has another form. */
function decoded(signature: string): Buffer[] {
  const text = signature.slice('v1,'.length)
  if (/^v1,[\w+/]{43}=$/.test(signature)) return [Buffer.from(text, 'base64')]
  return /^v1,[0-9a-f]{64}$/.test(signature) ? [Buffer.from(text, 'hex')] : []
}

function isSigned({ headers, rawBody }: WebhookRequest, signatures: readonly Buffer[], secret = ''): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  // An empty key would verify what anybody can sign.
  if (key.length === 0) return false
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.`
  const expected = createHmac('sha256', key).update(signed).update(rawBody).digest()
  return signatures.some((signature) => timingSafeEqual(signature, expected))
}

const eventOf = ({ rawBody }: WebhookRequest): WebhookEvent =>
  JSON.parse(typeof rawBody === 'string' ? rawBody : Buffer.from(rawBody).toString('utf8'))

const noMatch = () => new WebhookRefused('no signature of Webhook-Signature matches')
