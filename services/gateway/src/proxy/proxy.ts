import { ApiError } from '@backoffice/contracts/errors.ts'
import { type Caller, INTERNAL_TOKEN_HEADER } from '@backoffice/http/internal-token.ts'
import { traceparentFrom } from '@backoffice/runtime/trace-context.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticator } from '../keys/authenticator.ts'
import type { rateLimiter } from '../rate-limit/rate-limiter.ts'
import { headersForClient, headersForService } from './headers.ts'
import { requestBody } from './request-body.ts'
import { FILE_ROUTES, JSON_LIMITS, type RouteLimits, type ServiceName, serviceFor } from './routes.ts'
import type { Upstream } from './upstream.ts'

export interface ProxyDependencies {
  readonly authenticator: Authenticator
  readonly takeCall: ReturnType<typeof rateLimiter>
  readonly tokenOf: (caller: Caller, now: Date) => Promise<string>
  readonly upstreams: Readonly<Record<ServiceName, Upstream>>
  /** The catalog, over connections that only files use. */
  readonly files: Upstream
  readonly clock: () => Date
}

/**
 * Answers `/v1`: finds out who calls (401), counts the call (429), finds the service (404) and passes request and answer
 * through, neither kept in memory. It is all done before Fastify would read the body.
 */
export function addProxy(app: FastifyInstance, dependencies: ProxyDependencies): void {
  const { authenticator, takeCall, tokenOf, upstreams, files, clock } = dependencies

  async function forward(request: FastifyRequest, reply: FastifyReply, limits: RouteLimits) {
    const { raw } = request
    const target = raw.url ?? ''
    request.logged = { path: target.split('?', 1)[0] }
    const now = clock()
    const { caller, rateLimit } = await authenticator.authenticate(raw.headers, now)
    request.logged = { ...request.logged, workspace_id: caller.workspaceId, key_id: caller.keyId }
    const call = takeCall(caller.keyId, rateLimit, now.getTime())
    reply.headers(call.headers)
    if (call.refusal !== undefined) throw call.refusal

    const service = serviceFor(target)
    if (service === undefined)
      throw new ApiError('not_found', `${raw.method} ${target.split('?', 1)[0]}: no such operation`)
    request.logged = { ...request.logged, upstream: service }
    const headers = headersForService(raw.headers)
    headers[INTERNAL_TOKEN_HEADER] = await tokenOf(caller, now)
    headers['x-request-id'] = request.id
    headers.traceparent = traceparentFrom(raw.headers.traceparent)
    const upstream = limits.isFile ? files : upstreams[service]
    const answer = await upstream.send({
      method: request.method,
      path: target,
      headers,
      body: requestBody(raw, limits.bodyBytes),
      signal: clientGone(reply),
    })
    return reply.code(answer.statusCode).headers(headersForClient(answer.headers)).send(answer.body)
  }

  for (const [url, limits] of Object.entries({ '/v1': JSON_LIMITS, '/v1/*': JSON_LIMITS, ...FILE_ROUTES })) {
    app.all(url, {
      config: { bodyWithinMs: limits.bodyWithinMs },
      onRequest: (request, reply) => forward(request, reply, limits),
      handler: async () => undefined,
    })
  }
}

/** Aborted when the client leaves before it has its answer: what nobody waits for is not finished. */
export function clientGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort()
  })
  return gone.signal
}
