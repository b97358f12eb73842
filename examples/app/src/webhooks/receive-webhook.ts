import { type Credentials, MAX_WEBHOOK_BYTES, verifyWebhook, WebhookRefused } from '@backoffice/app-sdk'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Parts } from '../app.ts'
import { closeCheckouts } from '../checkout/checkouts.ts'
import type { Database } from '../database.ts'

const OrderEvent = z.object({
  type: z.string().startsWith('order.'),
  timestamp: z.string(),
  data: z.object({ id: z.string(), status: z.string(), payment_status: z.string() }),
})
type OrderEvent = z.output<typeof OrderEvent>

declare module 'fastify' {
  interface FastifyRequest {
    /** Of the workspace in the URL, once it is known. */
    installation?: Credentials
  }
}

/**
 * POST /webhooks/{workspace}: refuses a workspace without installation before it reads the body. Then it verifies the
 * signature over the raw bytes by that workspace's secret, before anything else, and refuses a bad one with 400 (App
 * rule 5). An event that comes again is acknowledged and ignored. An order is as its newest event says, of any type:
 * one that is late changes nothing.
 */
export function addWebhooks(app: FastifyInstance, { keys, database }: Parts): void {
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
          request.installation = installation
        },
      },
      async ({ headers, body, installation, log, params: { workspace } }, reply) => {
        const rawBody = body instanceof Buffer ? body : Buffer.alloc(0)
        const event = verifyWebhook({ headers, rawBody }, installation)
        const { changes } = database
          .prepare(
            `insert into event select workspace_id, ?, ?, ? from credentials where workspace_id = ?
            on conflict do nothing`,
          )
          .run(event.id, event.type, JSON.stringify(event.data), workspace)
        // The work of your system goes here, or to a worker that reads the table.
        if (changes === 1) log.info({ event: event.id, type: event.type }, 'received an event')
        const order = OrderEvent.safeParse(event)
        if (order.success && isNewest(database, workspace, order.data) && hasEnded(order.data)) {
          closeCheckouts(database, workspace, order.data.data.id)
        }
        return reply.status(204).send()
      },
    )
  })
}

/** Whether nothing is to be paid any more. */
const hasEnded = ({ data: { status, payment_status } }: OrderEvent) =>
  status === 'CANCELLED' || payment_status === 'PAID' || payment_status === 'REFUNDED'

/** Whether no later event of the resource has come. Of two at the same time each is. */
function isNewest(database: Database, workspace: string, { timestamp, data }: OrderEvent): boolean {
  const { changes } = database
    .prepare(
      `insert into latest_event select workspace_id, ?, ? from credentials where workspace_id = ?
      on conflict (workspace_id, resource_id) do update set timestamp = excluded.timestamp
        where excluded.timestamp >= latest_event.timestamp`,
    )
    .run(data.id, timestamp, workspace)
  return changes === 1
}
