import type { Caller, VerifiedToken } from '@backoffice/http/internal-token.ts'
import { addRoutes, type Route } from '@backoffice/http/route.ts'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Admit } from '../proxy/admission.ts'

/** The longest body of these operations: it is not among those that share memory (OP-161). */
const BODY_BYTES = 16 * 1024

type Authenticate = (request: FastifyRequest) => VerifiedToken

/**
 * Adds operations of `/v1` that the gateway answers itself. Each request on their paths is admitted first, as one that
 * is passed on to a service: another method, too.
 */
export function addOwnOperations<Context>(
  app: FastifyInstance,
  admit: Admit,
  routesOf: (authenticate: Authenticate) => readonly Route<Context>[],
  checkResponses?: boolean,
): void {
  const callers = new WeakMap<FastifyRequest, Caller>()
  const routes = routesOf((request) => ({ caller: callers.get(request) as Caller, isService: false }))
  app.register(async (own) => {
    own.addHook('onRoute', (route) => {
      route.bodyLimit = BODY_BYTES
    })
    own.addHook('onRequest', async (request, reply) => {
      callers.set(request, await admit(request, reply))
    })
    addRoutes(own, routes, checkResponses)
  })
}
