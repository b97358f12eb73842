import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Parts } from '../app.ts'
import { type Checkout, findCheckout, startCharging } from './checkouts.ts'
import { settle } from './settle.ts'

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
    startCharging(database, checkout.id)
    const started = findCheckout(database, checkout.id)
    // What fails here is repeated later.
    if (started) await settle(parts, started).catch((error) => request.log.error(error))
    return reply.redirect(`/pay/${checkout.id}`, 303)
  })
}

const CHARGING = '<p>Your payment is under way. Load this page again to see how it went.</p>'
const PAID = '<p>Paid. Thank you.</p>'
const CLOSED = '<p>This page is out of date, or the payment was declined. The shop has a new one.</p>'

/** The values are the platform's and this app's own, so nothing in them is HTML. */
const sendPage = (reply: FastifyReply, { id, amountMinor, currency, state }: Checkout) =>
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
    ${{ OPEN: `<form method="post" action="/pay/${id}"><button>Pay</button></form>`, CHARGING, CHARGED: PAID, PAID, CLOSED }[state]}
  </body>
</html>
`)
