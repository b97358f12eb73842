import { notFound } from '@backoffice/contracts/errors.ts'
import { refuseOtherMethods } from '@backoffice/http/other-methods.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Upstream } from '../upstreams/upstream.ts'
import { passOnPublic } from './pass-on.ts'
import { assetPath } from './routes.ts'

/** Answers a path with a service's files, without asking for a key. A key in the request is not passed on. */
function addFiles(app: FastifyInstance, url: string, upstream: Upstream, pathOf: (request: FastifyRequest) => string) {
  app.route({
    method: ['GET', 'HEAD'],
    url,
    handler: async (request, reply) => passOnPublic(upstream, request, reply, pathOf(request)),
  })
  refuseOtherMethods(app, url, ['GET'])
}

/** Answers `/assets` with stored files, since storefronts show them in `<img>` (OP-91). */
export const addAssets = (app: FastifyInstance, catalog: Upstream): void =>
  addFiles(app, '/assets/*', catalog, (request) => {
    const path = assetPath(request.raw.url ?? '')
    if (path === undefined) throw notFound(['path'], 'there is no such file')
    request.logged = { ...request.logged, upstream: catalog.name }
    return path
  })

/** Answers the public keys of the tokens for apps (OP-82). */
export function addPublicKeys(app: FastifyInstance, apps: Upstream): void {
  for (const path of ['/.well-known/jwks.json', '/.well-known/platform.pem']) addFiles(app, path, apps, () => path)
}
