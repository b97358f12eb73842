import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Parts } from '../app.ts'
import { openCheckout } from './checkouts.ts'

const Body = z.object({ orderId: z.guid(), amountMinor: z.int().positive(), currency: z.string().regex(/^[A-Z]{3}$/) })

/**
 * POST /checkout: the platform asks for a checkout of an order, with a session token. The workspace is the token's (App
 * rule 3). A real provider opens a session at its own system here; it may add a fee to the amount that it answers.
 */
export function addCheckout(app: FastifyInstance, { tokens, database, settings }: Parts): void {
  app.post('/checkout', async (request, reply) => {
    const { workspaceId } = await tokens.session(request.headers.authorization)
    const { orderId: order, amountMinor, currency } = Body.parse(request.body)
    const checkout = openCheckout(database, { workspaceId, order, amountMinor, currency })
    if (checkout === undefined) {
      return reply.status(409).send({ error: { message: 'nothing of this order is to be paid with this app' } })
    }
    const redirectUrl = new URL(`/pay/${checkout.id}`, settings.PUBLIC_URL).href
    return { sessionId: checkout.id, redirectUrl, amountMinor: checkout.amountMinor }
  })
}
