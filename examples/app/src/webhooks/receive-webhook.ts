import { verifyWebhook } from '@backoffice/app-sdk/verify-webhook.ts'
import type { FastifyInstance } from 'fastify'
import type { Parts } from '../app.ts'

const MAX_BODY_BYTES = 10 * 1024 * 1024

/**
 * POST /webhooks: verifies the signature over the raw bytes before anything else, and refuses a bad one with 400 (App
 * rule 5). An event that comes again is acknowledged and ignored.
 */
export function addWebhooks(app: FastifyInstance, { keys, database }: Parts): void {
  app.register(async (scope) => {
    // Only here: the other routes get parsed JSON.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MAX_BODY_BYTES }, (_request, body, done) =>
      done(null, body),
    )

    scope.post('/webhooks', async ({ headers, body, log }, reply) => {
      const rawBody = body instanceof Buffer ? body : Buffer.alloc(0)
      const { event, installation } = verifyWebhook({ headers, rawBody }, await keys.all())
      const { changes } = database
        .prepare(
          `insert into event select workspace_id, ?, ?, ? from credentials where workspace_id = ?
          on conflict do nothing`,
        )
        .run(event.id, event.type, JSON.stringify(event.data), installation.workspaceId)
      // The work of your system goes here, or to a worker that reads the table.
      if (changes === 1) log.info({ event: event.id, type: event.type }, 'received an event')
      return reply.status(204).send()
    })
  })
}
