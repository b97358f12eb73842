import { createHmac } from 'node:crypto'

/** What is signed: the event id, the Unix second of signing, and the body exactly as it is sent. */
export interface SignedParts {
  readonly id: string
  readonly timestamp: number
  readonly body: Buffer | string
}

/** The Webhook-Signature header: HMAC-SHA256 over `id.timestamp.body` in hex (spec: Delivery headers; OP-62). */
export function signatureOf(key: Buffer, { id, timestamp, body }: SignedParts): string {
  const hex = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('hex')
  return `v1,${hex}`
}
