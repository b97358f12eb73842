import { createHmac, timingSafeEqual } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'

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
 * header has a signature for each secret; one that matches is enough. A manifest with `standard_signature` brings those
 * that the library of Standard Webhooks reads; without it the hexadecimal ones are compared. Throws a WebhookRefused.
 */
export function verifyWebhook(request: WebhookRequest, installation: WithSecret | undefined): WebhookEvent {
  const signatures = plausibleSignatures(request)
  if (!isSigned(request, signatures, installation?.webhookSecret)) throw noMatch()
  return eventOf(request)
}

/**
 * As `verifyWebhook`, for a manifest whose path has no `{workspace}`: all installations of the app share one URL, and
 * the secret that matches tells the workspace. It tries all of them, and lets other work run between two.
 */
export async function verifyWebhookOfAny<Installation extends WithSecret>(
  request: WebhookRequest,
  installations: Iterable<Installation>,
): Promise<{ readonly event: WebhookEvent; readonly installation: Installation }> {
  const signatures = plausibleSignatures(request)
  for (const installation of installations) {
    if (isSigned(request, signatures, installation.webhookSecret)) return { event: eventOf(request), installation }
    await setImmediate()
  }
  throw noMatch()
}

/** The signatures to compare with. Refuses what needs no signature of our own to be wrong. */
function plausibleSignatures({ headers, rawBody }: WebhookRequest): string[] {
  const { 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers
  if (rawBody.length > MAX_WEBHOOK_BYTES) throw new WebhookRefused(`the body is larger than ${MAX_WEBHOOK_BYTES} bytes`)
  if (!/^\d{1,12}$/.test(String(timestamp)) || Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_S) {
    throw new WebhookRefused('Webhook-Timestamp is missing or more than 300 seconds from now')
  }
  const given = String(signatures)
    .split(' ')
    .filter((signature) => STANDARD.test(signature) || HEXADECIMAL.test(signature))
  if (given.length === 0) throw noMatch()
  return given
}

const STANDARD = /^v1,[\w+/]{43}=$/
const HEXADECIMAL = /^v1,[0-9a-f]{64}$/

function isSigned(request: WebhookRequest, signatures: readonly string[], secret = ''): boolean {
  // An empty key would verify what anybody can sign.
  if (Buffer.from(secret.replace(/^whsec_/, ''), 'base64').length === 0) return false
  const standard = signatures.filter((signature) => STANDARD.test(signature))
  return standard.length > 0 ? isStandard(request, standard, secret) : isHexadecimal(request, signatures, secret)
}

function isStandard({ headers, rawBody }: WebhookRequest, signatures: readonly string[], secret: string): boolean {
  const signed = {
    'webhook-id': String(headers['webhook-id']),
    'webhook-timestamp': String(headers['webhook-timestamp']),
    'webhook-signature': signatures.join(' '),
  }
  try {
    new Webhook(secret).verify(Buffer.from(rawBody), signed, { jsonParse: false })
    return true
  } catch {
    return false
  }
}

function isHexadecimal({ headers, rawBody }: WebhookRequest, signatures: readonly string[], secret: string): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp } = headers
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(rawBody).digest('hex')
  const expected = Buffer.from(`v1,${digest}`)
  return signatures.some((signature) => timingSafeEqual(Buffer.from(signature), expected))
}

const eventOf = ({ rawBody }: WebhookRequest): WebhookEvent => JSON.parse(Buffer.from(rawBody).toString('utf8'))

const noMatch = () => new WebhookRefused('no signature of Webhook-Signature matches')
