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

/** Whether a webhook is signed in these forms and no other (spec: Delivery, Verification; OP-62, OP-64). */
export function isGenuine({ headers, body }: Received, secret: string, forms = ['hex' as 'hex' | 'base64']): boolean {
  const timestamp = String(headers['webhook-timestamp'])
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signed = Buffer.concat([Buffer.from(`${headers['webhook-id']}.${timestamp}.`), body])
  const signatures = forms.map((form) => `v1,${createHmac('sha256', key).update(signed).digest(form)}`)
  const [expected, given] = [Buffer.from(signatures.join(' ')), Buffer.from(String(headers['webhook-signature']))]
  return expected.length === given.length && timingSafeEqual(expected, given)
}
