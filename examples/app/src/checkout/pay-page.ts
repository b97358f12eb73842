import { apiClient } from '@backoffice/app-sdk/api-client.ts'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Parts } from '../app.ts'
import { type Checkout, findCheckout, markPaid } from './checkouts.ts'

interface PayRoute {
  Params: { id: string }
}

/** GET and POST /pay/{id}: stands for the page of a payment provider. Its button pays without money. */
export function addPayPage(app: FastifyInstance, parts: Parts): void {
  const { database } = parts
  // The button's form is empty.
  app.addContentTypeParser('application/x-www-form-urlencoded', (_request, _payload, done) => done(null))

  app.get<PayRoute>('/pay/:id', (request, reply) => {
    const checkout = findCheckout(database, request.params.id)
    return checkout
      ? sendPage(reply, checkout)
      : reply.status(404).type('text/plain').send('There is no such checkout.')
  })

  app.post<PayRoute>('/pay/:id', async (request, reply) => {
    const checkout = findCheckout(database, request.params.id)
    if (checkout === undefined) return reply.status(404).type('text/plain').send('There is no such checkout.')
    if (checkout.paidAt === null) {
      await recordPayment(parts, checkout)
      markPaid(database, checkout.id, new Date())
    }
    return reply.redirect(`/pay/${checkout.id}`, 303)
  })
}

/**
 * Records the payment at the platform, with the workspace's key, whose scope is `sale::create` and no more (App rule
 * 4). The reference makes it safe to repeat: the platform answers the payment that is there.
 */
async function recordPayment({ keys, settings: { PLATFORM_URL } }: Parts, checkout: Checkout): Promise<void> {
  const { id, workspaceId, order, amountMinor, currency } = checkout
  const credentials = await keys.get(workspaceId)
  if (credentials === undefined) throw new Error('the app is not installed in this workspace')
  const api = apiClient({ baseUrl: PLATFORM_URL, apiKey: credentials.apiKey })
  const { error } = await api.POST('/v1/orders/{id}/payments', {
    params: { path: { id: order } },
    body: { amount: amountMinor, currency, provider: 'example-pay', reference: id },
  })
  if (error) throw new Error(`the payment is not recorded: ${error.error.message}`)
}

/** The values are the platform's and this app's own, so nothing in them is HTML. */
const sendPage = (reply: FastifyReply, { id, amountMinor, currency, paidAt }: Checkout) =>
  reply
    .type('text/html')
    .header('content-security-policy', "default-src 'none'; frame-ancestors 'none'")
    .send(`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Example Pay</title>
  </head>
  <body>
    <h1>Example Pay</h1>
    <p>${amountMinor} ${currency} in minor units</p>
    ${paidAt === null ? `<form method="post" action="/pay/${id}"><button>Pay</button></form>` : '<p>Paid. Thank you.</p>'}
  </body>
</html>
`)
