import { refuseOtherMethods } from '@backoffice/http/route.ts'
import type { FastifyInstance } from 'fastify'
import type { Upstream } from '../upstreams/upstream.ts'
import { passOnPublic } from './pass-on.ts'

const PATHS = ['/.well-known/jwks.json', '/.well-known/platform.pem']

/** Answers the public keys of the tokens for apps, without a key (OP-82). */
export function addPublicKeys(app: FastifyInstance, apps: Upstream): void {
  for (const path of PATHS) {
    app.route({
      method: ['GET', 'HEAD'],
      url: path,
      handler: (request, reply) => passOnPublic(apps, request, reply, path),
    })
    refuseOtherMethods(app, path, ['GET', 'HEAD'])
  }
}
