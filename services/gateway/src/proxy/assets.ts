import { notFound } from '@backoffice/contracts/errors.ts'
import { refuseOtherMethods } from '@backoffice/http/route.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import type { FastifyInstance } from 'fastify'
import { headersForClient, headersForService } from './headers.ts'
import { clientGone } from './proxy.ts'
import { assetPath } from './routes.ts'
import type { Upstream } from './upstream.ts'

/**
 * Answers `/assets`: stored files, streamed to whoever knows their URL, since storefronts show them in `<img>` (OP-91).
 * No key is asked for and none is passed on.
 */
export function addAssets(app: FastifyInstance, files: Upstream): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/assets/*',
    async handler(request, reply) {
      const { raw } = request
      const path = assetPath(raw.url ?? '')
      if (path === undefined) throw notFound('path: there is no such file')
      request.logged = { upstream: files.name }
      const headers = {
        ...headersForService(raw.headers),
        'x-request-id': request.id,
        traceparent: traceparentFrom(raw.headers.traceparent),
      }
      const answer = await files.send({
        method: request.method,
        path,
        headers,
        body: undefined,
        signal: clientGone(reply),
      })
      return reply.code(answer.statusCode).headers(headersForClient(answer.headers)).send(answer.body)
    },
  })
  refuseOtherMethods(app, '/assets/*', ['GET', 'HEAD'])
}
