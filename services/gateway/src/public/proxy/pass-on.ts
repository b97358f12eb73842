import { inCallSpan } from '@backoffice/http/call-span.ts'
import { asApiError } from '@backoffice/http/error-answers.ts'
import { INTERNAL_TOKEN_HEADER } from '@backoffice/http/internal-token.ts'
import { ROUTE_HEADER } from '@backoffice/http/request-metrics.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { clientOf } from '../../credentials/client-address.ts'
import type { Upstream } from '../upstreams/upstream.ts'
import { headersForClient, headersForService } from './headers.ts'
import { NO_BODY, type ReceivedBody } from './receive-body.ts'

interface PassedOn {
  /** Whose slot it takes. */
  readonly owner: string
  /** The key that asks; none for what is public. */
  readonly key?: string
  readonly path: string
  /** Signs the internal token; none for what is public. */
  readonly sign?: () => Promise<string>
  readonly body?: ReceivedBody
  /** Aborts when the client leaves. */
  readonly signal: AbortSignal
  /** For the answer's head, where it is not as for others over these connections. */
  readonly answerMs?: number | undefined
}

/** Sends a request to a service and streams the answer back. Stops when the client closes the connection. */
export async function passOn(
  upstream: Upstream,
  request: FastifyRequest,
  reply: FastifyReply,
  { owner, key, path, sign, body = NO_BODY, signal, answerMs }: PassedOn,
) {
  const { raw, method, id } = request
  const { traceparent, tracestate } = raw.headers
  const answer = await inCallSpan({ service: upstream.name, method, traceparent, tracestate }, async (trace) => {
    const headers = {
      ...headersForService(raw.headers),
      // Not before, since the body may take longer than the token holds.
      ...(sign && { [INTERNAL_TOKEN_HEADER]: await sign() }),
      'x-request-id': id,
      ...trace,
    }
    return upstream.send({ owner, key, method, path, headers, body: body.content, signal, headersTimeout: answerMs })
  }).finally(body.release)
  const route = answer.headers[ROUTE_HEADER]
  if (typeof route === 'string') request.logged = { ...request.logged, route }
  answer.body.once('error', (error) => {
    if (reply.raw.headersSent && !signal.aborted) noteBrokenOff(request, error)
  })
  return reply.code(answer.statusCode).headers(headersForClient(answer.headers)).send(answer.body)
}

/**
 * A service that breaks its answer off has failed, as the status in the log says. A slot that is taken over (OP-161) is
 * no failure: the line is as of a client that left, with the code.
 */
function noteBrokenOff(request: FastifyRequest, error: Error): void {
  const { code: error_code, status, message, cause } = asApiError(error)
  const err = status >= 500 && { err: cause ?? error }
  request.logged = { ...request.logged, error_code, error: message, ...err }
}

/** Passes on a request without a key, which takes a slot of its client's address. */
export const passOnPublic = (upstream: Upstream, request: FastifyRequest, reply: FastifyReply, path: string) =>
  passOn(upstream, request, reply, { owner: clientOf(request.ip), path, signal: clientGone(reply) })

/** A signal that aborts when the client closes the connection before it has its answer. */
export function clientGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  if (raw.destroyed) gone.abort()
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort()
  })
  return gone.signal
}
