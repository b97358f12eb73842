import { notFound } from '@backoffice/contracts/errors.ts'
import { refuseOtherMethods } from '@backoffice/http/route.ts'
import type { FastifyInstance } from 'fastify'
import type { Upstream } from '../upstreams/upstream.ts'
import { passOnPublic } from './pass-on.ts'
import { assetPath } from './routes.ts'

/**
 * Answers `/assets`: streams stored files without asking for a key, since storefronts show them in `<img>` (OP-91). A key in
 * the request is not passed on.
 */
export function addAssets(app: FastifyInstance, catalog: Upstream): void {
  app.route({
    method: ['GET', 'HEAD'],
    url: '/assets/*',
    async handler(request, reply) {
      const path = assetPath(request.raw.url ?? '')
      if (path === undefined) throw notFound(['path'], 'there is no such file')
      request.logged = { ...request.logged, upstream: catalog.name }
      return passOnPublic(catalog, request, reply, path)
    },
  })
  refuseOtherMethods(app, '/assets/*', ['GET', 'HEAD'])
}
