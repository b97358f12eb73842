import { ApiError } from '@backoffice/contracts/errors.ts'
import { type Caller, INTERNAL_TOKEN_HEADER } from '@backoffice/http/internal-token.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticator } from '../keys/authenticator.ts'
import type { rateLimiter } from '../rate-limit/rate-limiter.ts'
import { headersForClient, headersForService } from './headers.ts'
import { requestBody } from './request-body.ts'
import { JSON_LIMITS, type RouteLimits, SLOW_ROUTES, serviceFor } from './routes.ts'
import type { Upstream, Upstreams } from './upstream.ts'

export interface ProxyDependencies {
  readonly authenticator: Authenticator
  readonly takeCall: ReturnType<typeof rateLimiter>
  readonly tokenOf: (caller: Caller, now: Date) => Promise<string>
  readonly upstreams: Upstreams
  readonly clock: () => Date
}

/**
 * Answers `/v1`: authenticates the caller (401), counts the call (429), finds the service (404) and streams request and answer.
 * All of it happens before Fastify reads the body.
 */
export function addProxy(app: FastifyInstance, dependencies: ProxyDependencies): void {
  const { authenticator, takeCall, tokenOf, upstreams, clock } = dependencies

  async function forward(request: FastifyRequest, reply: FastifyReply, limits: RouteLimits) {
    const { raw } = request
    const target = raw.url ?? ''
    request.logged = { ...request.logged, path: target.split('?', 1)[0] }
    const now = clock()
    const { caller, rateLimit } = await authenticator.authenticate({ headers: raw.headers, address: request.ip }, now)
    request.logged = { ...request.logged, workspace_id: caller.workspaceId, key_id: caller.keyId }
    const call = takeCall(caller.keyId, rateLimit, now.getTime())
    reply.headers(call.headers)
    if (call.refusal !== undefined) throw call.refusal

    const service = serviceFor(target)
    if (service === undefined)
      throw new ApiError('not_found', `${raw.method} ${target.split('?', 1)[0]}: no such operation`)
    request.logged = { ...request.logged, upstream: service }
    const token = await tokenOf(caller, now)
    const upstream = upstreams[service][limits.connections]
    return passOn(upstream, request, reply, { path: target, token, body: requestBody(raw, limits.bodyBytes) })
  }

  const optionsOf = (limits: RouteLimits) => ({
    config: { bodyWithinMs: limits.bodyWithinMs },
    onRequest: (request: FastifyRequest, reply: FastifyReply) => forward(request, reply, limits),
    handler: async () => undefined,
  })
  for (const url of ['/v1', '/v1/*']) app.all(url, optionsOf(JSON_LIMITS))
  // On these paths, other methods match /v1/*.
  for (const { method, url, ...limits } of SLOW_ROUTES) app.route({ method, url, ...optionsOf(limits) })
}

interface PassedOn {
  readonly path: string
  /** The internal token; none for stored files. */
  readonly token?: string
  readonly body?: AsyncIterable<Buffer> | undefined
}

/** Sends a request to a service and streams the answer back. Stops when the client closes the connection. */
export async function passOn(
  upstream: Upstream,
  { raw, method, id }: FastifyRequest,
  reply: FastifyReply,
  { path, token, body }: PassedOn,
) {
  const headers = {
    ...headersForService(raw.headers),
    ...(token !== undefined && { [INTERNAL_TOKEN_HEADER]: token }),
    'x-request-id': id,
    traceparent: traceparentFrom(raw.headers.traceparent),
  }
  const answer = await upstream.send({ method, path, headers, body, signal: clientGone(reply) })
  return reply.code(answer.statusCode).headers(headersForClient(answer.headers)).send(answer.body)
}

/** A signal that aborts when the client closes the connection before it has its answer. */
function clientGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort()
  })
  return gone.signal
}
