import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Received } from '@backoffice/testing/receiver.ts'

/** The envelope of a received webhook (OP-61). */
interface Event {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly livemode: boolean
  readonly data: { readonly id: string }
}

export const eventOf = ({ body }: Received): Event => JSON.parse(body.toString('utf8'))

/** Verifies a webhook as partners would (spec: Delivery, Verification; OP-62, OP-64); by base64, as stock libraries. */
export function isGenuine({ headers, body }: Received, secret: string, encoding: 'hex' | 'base64' = 'hex'): boolean {
  const timestamp = String(headers['webhook-timestamp'])
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signed = Buffer.concat([Buffer.from(`${headers['webhook-id']}.${timestamp}.`), body])
  const expected = Buffer.from(`v1,${createHmac('sha256', key).update(signed).digest(encoding)}`)
  return String(headers['webhook-signature'])
    .split(' ')
    .map((signature) => Buffer.from(signature))
    .some((given) => expected.length === given.length && timingSafeEqual(expected, given))
}
