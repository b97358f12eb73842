import { notFound } from '@backoffice/contracts/errors.ts'
import { refuseEncodedBody } from '@backoffice/http/encoded-body.ts'
import { refuseOtherMethod } from '@backoffice/http/other-methods.ts'
import type { TokenSigner } from '@backoffice/http/token-signer.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Upstreams } from '../upstreams/upstream.ts'
import type { Admit } from './admission.ts'
import { clientGone, passOn } from './pass-on.ts'
import { bodyReceiver } from './receive-body.ts'
import { JSON_LIMITS, type RouteLimits, routeOf, SLOW_ROUTES, serviceFor, targetForService } from './routes.ts'

export interface ProxyDependencies {
  readonly admit: Admit
  readonly signer: TokenSigner
  readonly upstreams: Upstreams
  readonly clock: () => Date
}

/**
 * Answers `/v1`, and what the console alone asks of services: admits the caller, finds the service (404), receives a
 * JSON body or streams an upload, and streams the answer. All of it happens before Fastify reads the body.
 */
export function addProxy(app: FastifyInstance, dependencies: ProxyDependencies): void {
  const { admit, signer, upstreams, clock } = dependencies
  const receiveBody = bodyReceiver()

  async function forward(request: FastifyRequest, reply: FastifyReply, limits: RouteLimits) {
    const { raw } = request
    const target = raw.url ?? ''
    request.logged = { ...request.logged, path: target.split('?', 1)[0] }
    const caller = await admit(request, reply)
    // On the paths that the gateway answers itself, some of which are below those of a service.
    refuseOtherMethod(request)
    const service = serviceFor(target)
    if (service === undefined) {
      throw notFound([], `${raw.method} ${target.split('?', 1)[0]}: no such operation`, 'no_such_operation')
    }
    request.logged = { ...request.logged, upstream: service, route: routeOf(target) }
    refuseEncodedBody(raw)
    const { workspaceId, keyId } = caller
    const signal = clientGone(reply)
    const body = await receiveBody(raw, limits, { workspaceId, keyId, signal })
    return passOn(upstreams[service][limits.connections], request, reply, {
      owner: workspaceId,
      key: keyId,
      path: targetForService(target),
      sign: () => signer.forwarded(caller, service, clock()),
      body,
      signal,
      answerMs: limits.answerMs,
    })
  }

  const optionsOf = (limits: RouteLimits) => ({
    config: { bodyWithinMs: limits.bodyWithinMs, bodyIdleMs: limits.bodyIdleMs },
    onRequest: (request: FastifyRequest, reply: FastifyReply) => forward(request, reply, limits),
    handler: async () => undefined,
  })
  for (const url of ['/v1', '/v1/*', '/console/api', '/console/api/*']) app.all(url, optionsOf(JSON_LIMITS))
  // On these paths, other methods match /v1/*.
  for (const { method, url, ...limits } of SLOW_ROUTES) app.route({ method, url, ...optionsOf(limits) })
}
