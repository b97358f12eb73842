import { type Credentials, MAX_WEBHOOK_BYTES, verifyWebhookOfAny, WebhookRefused } from '@backoffice/app-sdk'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Parts } from '../app.ts'
import { closeCheckouts } from '../checkout/checkouts.ts'
import type { Database } from '../database.ts'

const OrderEvent = z.object({
  type: z.string().startsWith('order.'),
  // As a time: not every timestamp has a fraction.
  timestamp: z.coerce.date(),
  data: z.object({ id: z.string(), status: z.string(), payment_status: z.string(), total_price: z.number() }),
})
type OrderEvent = z.output<typeof OrderEvent>

declare module 'fastify' {
  interface FastifyRequest {
    /** Of the workspace in the URL, once it is known, and the former ones. */
    installations?: Credentials[]
  }
}

/**
 * POST /webhooks/{workspace}: refuses a workspace without installation before it reads the body. Then it verifies the
 * signature over the raw bytes by that workspace's secret, or its former one, before anything else, and refuses a bad
 * one with 400 (App rule 5). An event that comes again is acknowledged and ignored, and so is a test. An order is as
 * its newest event says, of any type: one that is late changes nothing.
 */
export function addWebhooks(app: FastifyInstance, { keys, formerKeys, database }: Parts): void {
  app.register(async (scope) => {
    // Only here: the other routes get parsed JSON.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_WEBHOOK_BYTES }, (_request, body, done) =>
      done(null, body),
    )

    scope.post<{ Params: { workspace: string } }>(
      '/webhooks/:workspace',
      {
        async onRequest(request) {
          const installation = await keys.get(request.params.workspace)
          if (installation === undefined) throw new WebhookRefused('the workspace has not installed this app')
          const former = await formerKeys.get(request.params.workspace)
          request.installations = former ? [installation, former] : [installation]
        },
      },
      async ({ headers, body, installations = [], log, params: { workspace } }, reply) => {
        const rawBody = body instanceof Buffer ? body : Buffer.alloc(0)
        const { event, installation } = await verifyWebhookOfAny({ headers, rawBody }, installations)
        // Nothing of a test is real. In a sandbox every event has `livemode: false`.
        if (!event.livemode && !installation.apiKey.startsWith('sk_test_')) return reply.status(204).send()
        const { changes } = database
          .prepare(
            `insert into event select workspace_id, ?, ?, ? from credentials where workspace_id = ?
            on conflict do nothing`,
          )
          .run(event.id, event.type, JSON.stringify(event.data), workspace)
        // The work of your system goes here, or to a worker that reads the table.
        if (changes === 1) log.info({ event: event.id, type: event.type }, 'received an event')
        const order = OrderEvent.safeParse(event)
        if (order.success && noteOrder(database, workspace, order.data)) {
          closeCheckouts(database, workspace, order.data.data.id, mostToPay(order.data))
        }
        return reply.status(204).send()
      },
    )
  })
}

/** Whether nothing is to be paid any more. A deposit that was REFUNDED is owed again. */
const hasEnded = ({ data: { status, payment_status } }: OrderEvent) =>
  status === 'CANCELLED' || payment_status === 'PAID'

/**
 * The most that a page may still take. How much of an order was paid or given back no event says: then there is a new
 * page, for what the platform asks.
 */
const mostToPay = (order: OrderEvent) =>
  hasEnded(order) || order.data.payment_status !== 'UNPAID' ? 0 : order.data.total_price

/** Notes how an order is. Returns false when a later event of it has come. Of two at the same time each is noted. */
function noteOrder(database: Database, workspace: string, order: OrderEvent): boolean {
  const { changes } = database
    .prepare(
      `insert into latest_order select workspace_id, ?, ?, ? from credentials where workspace_id = ?
      on conflict (workspace_id, order_id) do update
        set occurred_at = excluded.occurred_at, has_ended = excluded.has_ended
        where excluded.occurred_at >= latest_order.occurred_at`,
    )
    .run(order.data.id, order.timestamp.getTime(), Number(hasEnded(order)), workspace)
  return changes === 1
}
